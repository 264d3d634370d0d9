// SPDX-License-Identifier: Apache-2.0
// KERNKIT_CUDA_CHECK: a CUDA error becomes a RuntimeError.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/error.h"

namespace kernkit::cuda {

/// Throws RuntimeError: "cudaSetDevice(1) failed: cudaErrorNoDevice: no CUDA-capable device is
/// detected". The runtime's last error is cleared, so that nobody meets it a second time.
[[noreturn, gnu::cold]] inline void throw_cuda_error(cudaError_t error, const char* call,
                                                     Where where) {
  (void)cudaGetLastError();
  Message text;
  text << call << " failed: " << cudaGetErrorName(error) << ": " << cudaGetErrorString(error);
  throw Error(kind::RuntimeError, text.c_str(), where);
}

inline void check(cudaError_t error, const char* call, Where where) {
  if (__builtin_expect(error != cudaSuccess, 0)) throw_cuda_error(error, call, where);
}

}  // namespace kernkit::cuda

/// Evaluates a call of the CUDA runtime once; throws RuntimeError unless it returns cudaSuccess.
#define KERNKIT_CUDA_CHECK(call) ::kernkit::cuda::check((call), #call, KERNKIT_HERE)
