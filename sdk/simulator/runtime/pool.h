// SPDX-License-Identifier: Apache-2.0
// Memory pools: the memory of cudaMallocAsync(). A pool reserves memory of its device and keeps
// what is freed until its stream, an event or its device is waited for; then the pool keeps what
// its release threshold allows.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

// What cudaMemPool_t points to.
struct CUmemPoolHandle_st {
  int device;
  size_t max_size = 0;             // 0: as much as the device has [bytes]
  uint64_t release_threshold = 0;  // kept of what is not used [bytes]
  // How freed memory may be used again: kept for the program, which reads them.
  int follows_events = 1, is_opportunistic = 1, adds_dependencies = 1;
  size_t used = 0, used_high = 0;          // by allocations [bytes]
  size_t reserved = 0, reserved_high = 0;  // of the device's memory [bytes]
  bool destroyed = false;
};

namespace kernkit::simulator {

using MemoryPool = CUmemPoolHandle_st;
struct Allocation;
struct State;

/// Makes the default pool of each device, which is its current pool, too, and the pool of the
/// memory that graphs allocate. That pool keeps unused memory until cudaDeviceGraphMemTrim().
void make_default_pools(State* state);
/// Whether a device, and the pool if there is one, has so much memory. Memory that pools of the
/// device do not use is given back first where the device needs it.
bool has_room(int device, const MemoryPool* pool, size_t size);
/// Counts an allocation of device memory as used by its device or pool, and as used no longer.
void count_allocated(const Allocation& allocation);
void count_released(const Allocation& allocation);
/// Gives back what a pool does not use, but for `kept` bytes of what it reserves.
void trim(MemoryPool* pool, uint64_t kept);
/// What pools of a device reserve and do not use [bytes].
size_t unused_of_pools(int device);
/// Gives back what pools of a device do not use, but for the release threshold of each pool.
void release_unused_of_pools(int device);

/// cudaMallocAsync() from this pool.
cudaError_t allocate_async(void** pointer, size_t size, const std::shared_ptr<MemoryPool>& pool,
                           cudaStream_t stream);

}  // namespace kernkit::simulator
