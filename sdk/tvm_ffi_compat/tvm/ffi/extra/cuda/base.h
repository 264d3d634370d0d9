// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include "kernkit/cuda/check.h"
#include "tvm/ffi/error.h"

/// Evaluates `call`, a call of the CUDA runtime, once and throws RuntimeError unless the result is
/// cudaSuccess. The message contains the call, and more details than tvm-ffi's message
/// (kernkit/cuda/check.h).
#define TVM_FFI_CHECK_CUDA_ERROR(call) \
  ::tvm::ffi::detail::translate([&] { KERNKIT_CUDA_CHECK(call); })
