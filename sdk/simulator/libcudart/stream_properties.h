// SPDX-License-Identifier: Apache-2.0
// The core's queries of streams, and callbacks in streams.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator::core {

struct StreamProperties {
  unsigned flags;
  int priority;
  int device;
  unsigned long long id;  // 1: legacy stream; 2: per-thread default stream; above 2: other
};
cudaError_t read_stream(cudaStream_t stream, StreamProperties* properties);

using StreamCallback = void (*)(cudaStream_t stream, cudaError_t status, void* data);
cudaError_t add_callback(cudaStream_t stream, StreamCallback callback, void* data, unsigned flags);

}  // namespace kernkit::simulator::core
