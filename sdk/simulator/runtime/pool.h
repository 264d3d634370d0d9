// SPDX-License-Identifier: Apache-2.0
// Memory pools: the memory of cudaMallocAsync(). A pool reserves memory of a device. Freed memory
// stays reserved until the host waits for a stream, an event or the device; the pool then releases
// unused memory above the pool's release threshold.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

// The object that a cudaMemPool_t points to.
struct CUmemPoolHandle_st {
  int device;
  size_t max_size = 0;             // limit [bytes]; 0 means the device's whole memory
  uint64_t release_threshold = 0;  // reserved memory up to which unused memory is kept [bytes]
  // Attributes for the reuse of freed memory, which have no effect.
  int follows_events = 1, is_opportunistic = 1, adds_dependencies = 1;
  size_t used = 0, used_high = 0;          // memory in use, and its maximum [bytes]
  size_t reserved = 0, reserved_high = 0;  // reserved device memory, and its maximum [bytes]
  bool destroyed = false;
};

namespace kernkit::simulator {

using MemoryPool = CUmemPoolHandle_st;
struct Allocation;
struct State;

/// Creates two pools for each device: the default pool, which is also the first current pool, and
/// the pool of graphs, which keeps unused memory until cudaDeviceGraphMemTrim().
void make_default_pools(State* state);
/// Returns whether a device and, unless null, `pool` have `size` bytes left. Releases unused memory
/// of other pools of the device if necessary.
bool has_room(int device, const MemoryPool* pool, size_t size);
/// Adds the size of an allocation to the memory in use of its pool or device. count_released()
/// subtracts the size.
void count_allocated(const Allocation& allocation);
void count_released(const Allocation& allocation);
/// Releases unused memory of a pool, down to `min_bytes` reserved bytes.
void trim(MemoryPool* pool, uint64_t min_bytes);
/// Returns the memory that a device's pools reserve but do not use [bytes].
size_t unused_of_pools(int device);
/// Releases unused memory of a device's pools, down to the release threshold of each pool.
void release_unused_of_pools(int device);

}  // namespace kernkit::simulator
