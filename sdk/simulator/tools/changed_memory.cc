// SPDX-License-Identifier: Apache-2.0
#include "tools/changed_memory.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "runtime/state.h"

namespace kernkit::simulator::ptx {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace

uint64_t digest_of(const void* bytes, size_t size, uint64_t seed) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint64_t hash = mixed(seed, size);
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, at + i, std::min(sizeof(word), size - i));
    hash = mixed(hash, word);
  }
  return hash;
}

bool ChangedMemory::Chunk::is_changed(uint32_t i) const {
  return before[i] != reinterpret_cast<const unsigned char*>(begin)[i] ||
         (!stored.empty() && stored[i]);
}
bool ChangedMemory::Chunk::is_changed() const {
  return !stored.empty() ||
         std::memcmp(before.get(), reinterpret_cast<const void*>(begin), bytes) != 0;
}
std::vector<uint16_t>& ChangedMemory::Chunk::words() {
  writers.resize((bytes + 3) / 4);
  return writers;
}

void ChangedMemory::clear() {
  chunks_.clear();
  indices_.clear();
  memories_.clear();
  range_ = {};
  last_ = nullptr;
}

size_t ChangedMemory::memory_of(const Range& range, const DeviceMemory& memory) {
  const auto [entry, is_new] = indices_.try_emplace(range.begin, memories_.size());
  if (is_new) {
    const uint64_t bytes = range.end - range.begin;
    const Allocation* allocation = allocation_of(reinterpret_cast<const void*>(range.begin));
    const std::string variable = memory.variable_at(range.begin);
    memories_.push_back(allocation != nullptr
                            ? "allocation " + std::to_string(allocation->number) + " (" +
                                  std::to_string(allocation->size) + " bytes by " +
                                  allocation->allocated_by + "())"
                            : "variable " + variable + " (" + std::to_string(bytes) + " bytes)");
  }
  return entry->second;
}

ChangedMemory::Chunk* ChangedMemory::at(uint64_t address, const DeviceMemory& memory) {
  if (last_ != nullptr && last_->holds(address)) return last_;
  if (address < range_.begin || address >= range_.end) range_ = memory.range_of(address);
  if (address < range_.begin || address >= range_.end) return nullptr;
  // Other memory, such as parameters of a kernel that a kernel launches, has no name and is left
  // out.
  const Allocation* allocation = allocation_of(reinterpret_cast<const void*>(address));
  if (allocation == nullptr && memory.variable_at(address).empty()) return nullptr;
  const uint64_t begin = range_.begin + (address - range_.begin) / kChunk * kChunk;
  Chunk& chunk = chunks_[begin];
  if (chunk.before == nullptr) {
    chunk.begin = begin;
    chunk.bytes = static_cast<uint32_t>(std::min<uint64_t>(kChunk, range_.end - begin));
    chunk.memory = memory_of(range_, memory);
    chunk.offset = begin - range_.begin;
    chunk.before = std::make_unique<unsigned char[]>(chunk.bytes);
    std::memcpy(chunk.before.get(), reinterpret_cast<const void*>(begin), chunk.bytes);
  }
  return last_ = &chunk;
}

void ChangedMemory::store(uint64_t address, uint64_t bytes, const DeviceMemory& memory) {
  for (const uint64_t end = address + bytes; address < end;) {
    Chunk* chunk = at(address, memory);
    if (chunk == nullptr) return;
    chunk->stored.resize(chunk->bytes);
    const uint64_t next = std::min(end, chunk->begin + chunk->bytes);
    const auto first = chunk->stored.begin() + static_cast<ptrdiff_t>(address - chunk->begin);
    std::fill(first, first + static_cast<ptrdiff_t>(next - address), true);
    address = next;
  }
}

std::vector<const ChangedMemory::Chunk*> ChangedMemory::chunks() const {
  std::vector<const Chunk*> all;
  all.reserve(chunks_.size());
  for (const auto& [begin, chunk] : chunks_) all.push_back(&chunk);
  std::sort(all.begin(), all.end(), [this](const Chunk* a, const Chunk* b) {
    return std::tie(memories_[a->memory], a->offset) < std::tie(memories_[b->memory], b->offset);
  });
  return all;
}

uint64_t ChangedMemory::digest() const {
  uint64_t hash = 1;
  size_t memory = SIZE_MAX;
  for (const Chunk* chunk : chunks()) {
    if (!chunk->is_changed()) continue;
    if (chunk->memory != memory) {
      memory = chunk->memory;
      hash = digest_of(memories_[memory].data(), memories_[memory].size(), hash);
    }
    const auto* now = reinterpret_cast<const unsigned char*>(chunk->begin);
    for (uint32_t i = 0; i < chunk->bytes; ++i) {
      if (chunk->is_changed(i)) hash = mixed(hash, (chunk->offset + i) << 8 | now[i]);
    }
  }
  return hash;
}

}  // namespace kernkit::simulator::ptx
