// SPDX-License-Identifier: Apache-2.0
// The core's streams.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator::core {

/// Creates a stream on the current device. A priority out of range is clamped to the range.
cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority);
/// Destroys a stream after completing its enqueued work. Destroying the origin stream of a capture
/// ends the capture.
cudaError_t destroy_stream(cudaStream_t stream);
cudaError_t wait_for_stream(cudaStream_t stream);
/// Returns cudaErrorNotReady while the stream has work.
cudaError_t query_stream(cudaStream_t stream);
/// Makes the stream wait for an event. The flags are 0 or cudaEventWaitExternal.
cudaError_t wait_in_stream(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t enqueue_host_function(cudaStream_t stream, cudaHostFn_t function, void* data);

}  // namespace kernkit::simulator::core
