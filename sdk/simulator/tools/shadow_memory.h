// SPDX-License-Identifier: Apache-2.0
// Written: the bytes of memory from cudaMalloc() that a kernel, copy or fill has written. Memory
// outside of allocations counts as written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace kernkit::simulator::ptx {

/// A piece of memory. `bits` has one bit per byte, which is set if the byte was written; if `bits`
/// is null, all bytes count as written.
struct WrittenPiece {
  uint64_t begin = 1, end = 0;
  uint64_t* bits = nullptr;

  bool holds(uint64_t address, uint32_t bytes) const {
    return address >= begin && address < end && end - address >= bytes;
  }
  /// Returns the mask of uninitialised bytes among `bytes` bytes: at most 32 bytes, whose bits are
  /// in one word.
  uint32_t undefined(uint64_t address, uint32_t bytes) const {
    if (bits == nullptr) return 0;
    const uint64_t at = address - begin;
    const uint64_t word = __atomic_load_n(&bits[at / 64], __ATOMIC_RELAXED);
    return static_cast<uint32_t>(~word >> at % 64 & ((uint64_t{1} << bytes) - 1));
  }
  void write(uint64_t address, uint32_t bytes) const {
    if (bits == nullptr || undefined(address, bytes) == 0) return;
    const uint64_t at = address - begin;
    __atomic_fetch_or(&bits[at / 64], ((uint64_t{1} << bytes) - 1) << at % 64, __ATOMIC_RELAXED);
  }
};

class Written {
 public:
  static Written& of_process();

  /// Begins to record writes to memory that is allocated from now on.
  void keep();
  /// Returns the piece that contains an address: an allocation, or the gap between two allocations.
  WrittenPiece piece_around(uint64_t address) const;
  /// Marks all memory as written. Called for a kernel without instrumentation.
  void forget() { pieces_.clear(); }

 private:
  struct Bits {
    uint64_t end;
    std::unique_ptr<uint64_t, void (*)(void*)> words;
  };
  void allocate(uint64_t address, uint64_t bytes);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  void fill(uint64_t to, uint64_t bytes);

  std::map<uint64_t, Bits> pieces_;
  friend struct WrittenSteps;
};

}  // namespace kernkit::simulator::ptx
