// SPDX-License-Identifier: Apache-2.0
// KERNKIT_CUDA_CHECK: a CUDA error becomes a RuntimeError.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/error.h"

namespace kernkit::cuda {

/// Throws RuntimeError for a failed call, such as "cudaSetDevice(1) failed: cudaErrorNoDevice: no
/// CUDA-capable device is detected". `call` is the call's text, and `location` the source line of
/// the call. The message adds, where applicable, that the error comes from earlier work, that the
/// context is lost, or which driver or architecture was found and which is required. If an
/// environment variable requests the log, the trace or recordings, the last three calls of the
/// library follow. For an error of earlier work, the message names the environment variable that
/// finds the kernel. Clears the runtime's last error, so that no later call reports the error
/// again. `error` must not be cudaSuccess; the text of `call` is copied.
[[noreturn, gnu::cold]] void throw_cuda_error(cudaError_t error, const char* call,
                                              SourceLocation location);

namespace detail {
/// Returns true if KERNKIT_SYNC=1 is set in the environment; read once.
bool sync_each_launch();
/// Throws the RuntimeError of throw_cuda_error() for a call that waited for its own work: the
/// message does not attribute the error to earlier work.
[[noreturn, gnu::cold]] void throw_error_of_own_work(cudaError_t error, const char* call,
                                                     SourceLocation location);
}  // namespace detail

/// Throws the RuntimeError of throw_cuda_error() unless `error` is cudaSuccess. KERNKIT_CUDA_CHECK
/// passes the text and the source line of the call. Returns for cudaSuccess.
inline void check(cudaError_t error, const char* call, SourceLocation location) {
  if (__builtin_expect(error != cudaSuccess, 0)) throw_cuda_error(error, call, location);
}

/// Returns true if a call succeeded, or failed because the driver is unloading at the end of the
/// process and has released everything itself (cudaErrorCudartUnloading,
/// cudaErrorContextIsDestroyed). Otherwise returns false and clears this thread's last error of the
/// runtime. Throws nothing: for destructors and deleters.
///
///     ~Event() { (void)cuda::succeeded(cudaEventDestroy(event_)); }
inline bool succeeded(cudaError_t error) noexcept {
  if (__builtin_expect(error == cudaSuccess, 1)) return true;
  if (error == cudaErrorCudartUnloading || error == cudaErrorContextIsDestroyed) return true;
  (void)cudaGetLastError();
  return false;
}

}  // namespace kernkit::cuda

/// Evaluates `call`, a call of the CUDA runtime, once and throws RuntimeError unless the result is
/// cudaSuccess. The message has the text of the call, and the name and description of the error:
/// see kernkit::cuda::throw_cuda_error(). The check does not wait for the device, and the runtime
/// may return the error of earlier work.
#define KERNKIT_CUDA_CHECK(call) ::kernkit::cuda::check((call), #call, KERNKIT_HERE)

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cuda/impl/check.h"
#endif
