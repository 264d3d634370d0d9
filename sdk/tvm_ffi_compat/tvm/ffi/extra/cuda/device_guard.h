// SPDX-License-Identifier: Apache-2.0
// CUDADeviceGuard: its destructor never throws.
#pragma once

#include "kernkit/cuda/device_guard.h"
#include "tvm/ffi/extra/cuda/base.h"

KERNKIT_TVM_FFI_BEGIN
using kernkit::CUDADeviceGuard;
KERNKIT_TVM_FFI_END
