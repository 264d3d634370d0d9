// SPDX-License-Identifier: Apache-2.0
// KERNKIT_CUDA_CHECK: a CUDA error becomes a RuntimeError.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/error.h"

namespace kernkit::cuda {

/// Throws RuntimeError: "cudaSetDevice(1) failed: cudaErrorNoDevice: no CUDA-capable device is
/// detected". The message adds that the error comes from earlier work, that the context is lost, or
/// which driver or architecture was found and which is required. Clears the runtime's last error,
/// so that no later call reports the error again.
[[noreturn, gnu::cold]] void throw_cuda_error(cudaError_t error, const char* call, Where where);

inline void check(cudaError_t error, const char* call, Where where) {
  if (__builtin_expect(error != cudaSuccess, 0)) throw_cuda_error(error, call, where);
}

/// For destructors and deleters, which cannot throw: true when a call succeeded, or failed
/// because the driver is unloading at the end of the process and has released everything itself.
/// Clears the runtime's last error otherwise. Never throws.
///
///     ~Event() { (void)cuda::succeeded(cudaEventDestroy(event_)); }
inline bool succeeded(cudaError_t error) noexcept {
  if (__builtin_expect(error == cudaSuccess, 1)) return true;
  if (error == cudaErrorCudartUnloading || error == cudaErrorContextIsDestroyed) return true;
  (void)cudaGetLastError();
  return false;
}

}  // namespace kernkit::cuda

/// Evaluates a call of the CUDA runtime once; throws RuntimeError unless it returns cudaSuccess.
#define KERNKIT_CUDA_CHECK(call) ::kernkit::cuda::check((call), #call, KERNKIT_HERE)

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cuda/impl/check.h"
#endif
