// SPDX-License-Identifier: Apache-2.0
// get_cuda_stream(): the stream on which the caller's framework works.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/env.h"

namespace kernkit {

/// Returns the current stream of the caller's framework on this device, for this thread; the
/// default stream (null) if the framework set none or the process has no host. The framework owns
/// the stream. Throws nothing. The stream belongs to the device, which must be current when the
/// stream is used: code that launches a kernel without cuda::Launch first creates a CUDADeviceGuard
/// and then gets the stream.
///
///     CUDADeviceGuard guard(x.device().device_id);
///     cudaStream_t stream = get_cuda_stream(x.device());
///     my_kernel<<<grid, block, 0, stream>>>(...);
///     // May report the error of an earlier call, unlike cuda::Launch.
///     KERNKIT_CUDA_CHECK(cudaGetLastError());
inline cudaStream_t get_cuda_stream(DLDevice device) {
  return static_cast<cudaStream_t>(current_stream(device));
}

}  // namespace kernkit
