// SPDX-License-Identifier: Apache-2.0
// The core's advice and prefetches for managed memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "libcudart/structures.h"

namespace kernkit::simulator::core {

/// Checks the arguments of advice, which has no effect. `advice` is a value of cudaMemoryAdvise.
cudaError_t advise(const void* memory, size_t size, int advice, const MemLocation& location);
cudaError_t prefetch(const void* memory, size_t size, const MemLocation& location, unsigned flags,
                     cudaStream_t stream);
cudaError_t attach_to_stream(cudaStream_t stream, const void* memory, size_t size, unsigned flags);

}  // namespace kernkit::simulator::core
