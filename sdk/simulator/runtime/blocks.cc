// SPDX-License-Identifier: Apache-2.0
#include "kernkit/simulator/blocks.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

Allocation* allocation_at(const void* memory) {
  return const_cast<Allocation*>(allocation_of(memory));
}

void erase_block(const void* memory, unsigned long number) {
  Allocation* allocation = allocation_at(memory);
  if (allocation == nullptr) return;
  auto [position, end] = allocation->blocks.equal_range(static_cast<const char*>(memory));
  position =
      std::find_if(position, end, [&](const auto& entry) { return entry.second.number == number; });
  if (position != end) allocation->blocks.erase(position);
}

}  // namespace

const std::pair<const char* const, MemoryBlock>* block_around(const Allocation& allocation,
                                                              const char* address) {
  // The last block that begins at or before the address usually contains the address, but a block
  // that begins earlier may end later.
  for (auto position = allocation.blocks.upper_bound(address);
       position != allocation.blocks.begin();) {
    --position;
    if (address < position->first + position->second.size) return &*position;
  }
  return nullptr;
}

}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

void kernkit_begin_block(const void* memory, size_t size) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  Allocation* const allocation = allocation_at(memory);
  if (allocation == nullptr) return;
  allocation->has_blocks = true;
  static unsigned long blocks = 0;
  const auto* begin = static_cast<const char*>(memory);
  const auto [first, last] = allocation->blocks.equal_range(begin);
  const bool exists = std::any_of(first, last, [&](const auto& entry) {
    return !entry.second.ends && entry.second.size == size;
  });
  if (!exists) allocation->blocks.emplace(begin, MemoryBlock{size, ++blocks, false});
}

void kernkit_end_block(const void* memory, cudaStream_t stream) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  Allocation* const allocation = allocation_at(memory);
  if (allocation == nullptr) return;
  const auto [first, last] = allocation->blocks.equal_range(static_cast<const char*>(memory));
  MemoryBlock* newest = nullptr;
  for (auto position = first; position != last; ++position) {
    MemoryBlock& block = position->second;
    if (!block.ends && (newest == nullptr || block.number > newest->number)) newest = &block;
  }
  if (newest == nullptr) return;
  newest->ends = true;
  const unsigned long number = newest->number;
  if (!exists(stream)) return erase_block(memory, number);
  give(device_of(stream), stream, {0, [=] { erase_block(memory, number); }, nullptr});
}

}  // extern "C"
