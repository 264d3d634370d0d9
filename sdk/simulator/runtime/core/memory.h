// SPDX-License-Identifier: Apache-2.0
// The core's allocations.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "runtime/core/contexts.h"
#include "runtime/pool.h"

namespace kernkit::simulator::core {

/// Allocates memory of the current device, managed memory or host memory, by `type`. Stores a null
/// pointer for 0 bytes.
cudaError_t allocate(void** pointer, size_t size, cudaMemoryType type);
/// Allocates managed memory. Returns cudaErrorInvalidValue for 0 bytes, and for flags other than
/// cudaMemAttachGlobal and cudaMemAttachHost.
cudaError_t allocate_managed(void** pointer, size_t size, unsigned flags);
/// Allocates rows of device memory, and stores the distance between rows in `*pitch` [bytes].
cudaError_t allocate_rows(void** pointer, size_t* pitch, size_t width, size_t height);
/// Allocates from the current pool of the stream's device, in the order of the stream.
cudaError_t allocate_async(void** pointer, size_t size, cudaStream_t stream);
/// Allocates from a pool in the order of a stream, see cudaMallocFromPoolAsync().
cudaError_t allocate_from_pool(void** pointer, size_t size, const std::shared_ptr<MemoryPool>& pool,
                               cudaStream_t stream);
/// Waits for all devices, and frees device or managed memory.
cudaError_t free_memory(void* pointer);
cudaError_t free_host_memory(void* pointer);
cudaError_t free_async(void* pointer, cudaStream_t stream);
/// Frees all memory that was allocated in a context of create_context().
void free_memory_of_context(const CUctx_st* context);
/// Stores the free and the total memory of the current device [bytes].
cudaError_t read_memory_sizes(size_t* free, size_t* total);
cudaError_t read_pointer(cudaPointerAttributes* attributes, const void* pointer);
/// Stores the first byte and the size of the allocation or variable that contains an address.
/// Returns cudaErrorSymbolNotFound if there is none.
cudaError_t find_range(void** begin, size_t* size, const void* address);

}  // namespace kernkit::simulator::core
