// SPDX-License-Identifier: Apache-2.0
// KERNKIT_SYNC=1: a call waits for its work on a CUDA device, so that the error of a kernel names
// the op, also if the op launches by <<<>>> or calls another library.
#pragma once

#include "kernkit/host_api/raise.h"
#include "kernkit/logging/impl/known_op.h"

#if defined(KERNKIT_WITH_CUDA)
#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/stream.h"
#endif

namespace kernkit::logging {

/// Releases the object in *result, if any, and sets *result to None.
inline void release_result(KernkitAny* result) {
  auto* dec_ref = host_api::object_dec_ref.get();
  if (result->type_index >= kKernkitObject && dec_ref != nullptr) dec_ref(result->v.ptr);
  *result = {};
}

/// Waits for the stream of a call that has returned 0, unless the stream is being captured. Waits
/// for nothing if no argument is a CUDA tensor. Returns 0, or -1 with an error that names the op,
/// in which case the result of the call is released.
inline int wait_for_work([[maybe_unused]] const Call& call,
                         [[maybe_unused]] KernkitAny* result) noexcept {
#if defined(KERNKIT_WITH_CUDA)
  const DLDevice device = device_of(call.args, call.num_args);
  if (device.device_type != kDLCUDA && device.device_type != kDLCUDAManaged) return 0;
  int code = 0;
  try {
    const CUDADeviceGuard guard(device.device_id);
    const cudaStream_t stream = get_cuda_stream({kDLCUDA, device.device_id});
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (!cuda::succeeded(cudaStreamIsCapturing(stream, &status)) ||
        status != cudaStreamCaptureStatusNone) {
      return 0;
    }
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) return 0;
    Message text;
    text << "KERNKIT_SYNC: the work of ";
    append_call(text, call);
    cuda::detail::throw_error_of_own_work(error, text.c_str(), KERNKIT_HERE);
  } catch (const Error& error) {
    code = detail::raise_error(call.site->name, error, KERNKIT_HERE);
  } catch (...) {
    code = detail::raise_current_exception(call.site->name, KERNKIT_HERE);
  }
  release_result(result);
  return code;
#else
  return 0;
#endif
}

}  // namespace kernkit::logging
