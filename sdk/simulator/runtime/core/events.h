// SPDX-License-Identifier: Apache-2.0
// The core's events.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator::core {

/// Creates an event on the current device.
cudaError_t create_event(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event(cudaEvent_t event);
/// Records an event in a stream. `flags` is 0 or 1 (cudaEventRecordExternal).
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t wait_for_event(cudaEvent_t event);
/// Returns cudaErrorNotReady until the stream has reached the last record of the event.
cudaError_t query_event(cudaEvent_t event);
/// Stores the host time from the last record of `start` to the last record of `end` [ms].
cudaError_t read_elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // namespace kernkit::simulator::core
