// SPDX-License-Identifier: Apache-2.0
// The core's events.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator::core {

/// Creates an event on the current device.
cudaError_t create_event(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event(cudaEvent_t event);
/// Records an event. The flags are 0 or 1, cudaEventRecordExternal.
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t wait_for_event(cudaEvent_t event);
/// Returns cudaErrorNotReady while the last record is not reached.
cudaError_t query_event(cudaEvent_t event);
/// Stores the host's time between two events [ms].
cudaError_t read_elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // namespace kernkit::simulator::core
