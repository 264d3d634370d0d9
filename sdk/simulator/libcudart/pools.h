// SPDX-License-Identifier: Apache-2.0
// The core's memory pools. For a pool that does not exist, the functions return
// cudaErrorInvalidValue. Source of the rules: cuda_runtime_api.h of CUDA 13.0 at the corresponding
// functions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "libcudart/structures.h"
#include "runtime/pool.h"

namespace kernkit::simulator::core {

/// Stores the default pool of a device. find_current_pool() stores the current pool.
cudaError_t find_default_pool(MemoryPool** pool, int device);
cudaError_t find_current_pool(MemoryPool** pool, int device);
cudaError_t set_current_pool(int device, MemoryPool* pool);
/// The following functions find or set a pool by a location and an allocation type, a value of
/// cudaMemAllocationType. Only pinned memory of a device has pools; for other memory, the functions
/// return cudaErrorNotSupported.
cudaError_t find_default_pool(MemoryPool** pool, const MemLocation* location, int allocation_type);
cudaError_t find_current_pool(MemoryPool** pool, const MemLocation* location, int allocation_type);
cudaError_t set_current_pool(const MemLocation* location, int allocation_type, MemoryPool* pool);
cudaError_t create_pool(MemoryPool** pool, const MemPoolProps* properties);
cudaError_t destroy_pool(const MemoryPool* pool);
/// Sets an attribute; `attribute` is a value of cudaMemPoolAttr. read_pool_attribute() stores the
/// attribute.
cudaError_t set_pool_attribute(MemoryPool* pool, int attribute, const void* value);
cudaError_t read_pool_attribute(const MemoryPool* pool, int attribute, void* value);
/// Releases unused memory of the pool until at most `min_bytes` bytes are reserved.
cudaError_t trim_pool(MemoryPool* pool, size_t min_bytes);
cudaError_t set_pool_access(const MemoryPool* pool, const MemAccessDesc* all, size_t count);
cudaError_t read_pool_access(int* flags, const MemoryPool* pool, const MemLocation* location);
/// Stores the pool from which the memory at an address was allocated; null if no pool allocated the
/// memory.
cudaError_t find_pool_of_memory(MemoryPool** pool, const void* address);
cudaError_t allocate_from_pool(void** pointer, size_t size, const MemoryPool* pool,
                               cudaStream_t stream);

}  // namespace kernkit::simulator::core
