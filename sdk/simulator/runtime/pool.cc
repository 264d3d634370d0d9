// SPDX-License-Identifier: Apache-2.0
#include "runtime/pool.h"

#include <algorithm>

#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

DeviceState& state_of(int device) { return state().device_states.at(static_cast<size_t>(device)); }

size_t free_memory_of(int device) {
  return state().devices.at(static_cast<size_t>(device)).memory - state_of(device).used;
}

}  // namespace

void make_default_pools(State* state) {
  state->pools.clear();
  for (size_t i = 0; i < state->devices.size(); ++i) {
    auto pool = std::make_shared<MemoryPool>();
    pool->device = static_cast<int>(i);
    state->pools.insert(pool);
    state->device_states[i].default_pool = state->device_states[i].pool = pool;
    auto of_graphs = std::make_shared<MemoryPool>();
    of_graphs->device = static_cast<int>(i);
    of_graphs->release_threshold = UINT64_MAX;
    state->pools.insert(of_graphs);
    state->device_states[i].graph_pool = of_graphs;
  }
}

bool has_room(int device, const MemoryPool* pool, size_t size) {
  if (pool != nullptr && pool->max_size != 0 && size > pool->max_size - pool->used) return false;
  const auto needed = [&] {
    const size_t at_hand = pool == nullptr ? 0 : pool->reserved - pool->used;
    return size > at_hand ? size - at_hand : 0;
  };
  if (needed() <= free_memory_of(device)) return true;
  for (const auto& other : state().pools) {
    if (other->device == device && other.get() != pool) trim(other.get(), 0);
  }
  return needed() <= free_memory_of(device);
}

void count_allocated(const Allocation& allocation) {
  size_t& used_of_device = state_of(allocation.device).used;
  MemoryPool* pool = allocation.pool.get();
  if (pool == nullptr) {
    used_of_device += allocation.size;
    return;
  }
  pool->used += allocation.size;
  pool->used_high = std::max(pool->used_high, pool->used);
  if (pool->used <= pool->reserved) return;
  used_of_device += pool->used - pool->reserved;
  pool->reserved = pool->used;
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
}

void count_released(const Allocation& allocation) {
  MemoryPool* pool = allocation.pool.get();
  if (pool == nullptr) {
    state_of(allocation.device).used -= allocation.size;
    return;
  }
  pool->used -= allocation.size;
  if (pool->destroyed) trim(pool, 0);
}

void trim(MemoryPool* pool, uint64_t min_bytes) {
  const size_t to = std::max<uint64_t>(pool->used, std::min<uint64_t>(pool->reserved, min_bytes));
  state_of(pool->device).used -= pool->reserved - to;
  pool->reserved = to;
}

size_t unused_of_pools(int device) {
  size_t unused = 0;
  for (const auto& pool : state().pools) {
    if (pool->device == device) unused += pool->reserved - pool->used;
  }
  return unused;
}

void release_unused_of_pools(int device) {
  for (const auto& pool : state().pools) {
    if (pool->device == device) trim(pool.get(), pool->release_threshold);
  }
}

}  // namespace kernkit::simulator
