// SPDX-License-Identifier: Apache-2.0
// ChangedMemory: the bytes of global memory that a launch changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "device_memory.h"

namespace kernkit::simulator::ptx {

class ChangedMemory {
 public:
  static constexpr uint32_t kChunk = 4096;  // size of a chunk [bytes]

  /// A piece of an allocation or variable that the launch accesses.
  struct Chunk {
    uint64_t begin = 0;  // address of the first byte
    uint32_t bytes = 0;
    size_t memory = 0;                        // index into memories()
    uint64_t offset = 0;                      // offset of the first byte in its memory [bytes]
    std::unique_ptr<unsigned char[]> before;  // the bytes before the launch's first access
    std::vector<bool> stored;       // bytes that store() recorded; empty if there are none
    std::vector<uint16_t> writers;  // result of words()

    bool holds(uint64_t address) const { return address - begin < bytes; }
    /// Returns whether the launch changed the byte at this index.
    bool is_changed(uint32_t i) const;
    /// Returns whether the launch changed any byte.
    bool is_changed() const;
    /// Returns, for each word of 4 bytes, the number in WriterSets of the set of operations that
    /// stored to the word. Until the first call, `writers` is empty.
    std::vector<uint16_t>& words();
  };

  /// Removes all chunks.
  void clear();
  /// Returns the chunk around an address that the launch is about to access; null outside of
  /// allocations and variables.
  Chunk* at(uint64_t address, const DeviceMemory& memory);
  /// Records that the launch has stored bytes whose previous values are unknown, since at() was not
  /// called before the store.
  void store(uint64_t address, uint64_t bytes, const DeviceMemory& memory);
  /// Returns all chunks, ordered by the name of their memory and by their offset.
  std::vector<const Chunk*> chunks() const;
  /// Returns the names of the accessed memory: "allocation 2 (400 bytes by cudaMalloc())".
  const std::vector<std::string>& memories() const { return memories_; }
  /// Returns a digest of the values and locations of the changed bytes.
  uint64_t digest() const;

 private:
  size_t memory_of(const Range& range, const DeviceMemory& memory);

  std::unordered_map<uint64_t, Chunk> chunks_;    // by address
  std::unordered_map<uint64_t, size_t> indices_;  // index into memories_, by address
  std::vector<std::string> memories_;
  Range range_;            // the allocation or variable that contains the last access
  Chunk* last_ = nullptr;  // chunk of the last access
};

/// Returns a digest of the bytes and of `seed`.
uint64_t digest_of(const void* bytes, size_t size, uint64_t seed);

}  // namespace kernkit::simulator::ptx
