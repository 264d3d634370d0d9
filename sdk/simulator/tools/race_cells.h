// SPDX-License-Identifier: Apache-2.0
// RaceCell: the accesses to a word, half word or byte that later accesses are compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace kernkit::simulator::ptx {

/// The recorded accesses to a cell. Each member is an access number, which identifies a record and
/// a lane; 0 means no access.
struct RaceCell {
  uint32_t written = 0;       // a write that is not ordered before any later write
  uint32_t also_written = 0;  // the last write, if unordered with `written`
  uint32_t first_read = 0;    // a read that is not ordered before any later read
  uint32_t last_read = 0;     // the last read, if unordered with `first_read`
};

/// The cells of a piece of memory. All cells have the same size: a word or, after an access with a
/// smaller alignment, this alignment.
class RaceCells {
 public:
  static constexpr unsigned kWord = 2;  // log2 of the size of a word [bytes]

  RaceCells() = default;
  /// Creates cells for `bytes` bytes, all without an access.
  explicit RaceCells(uint64_t bytes) { reset(bytes); }
  void reset(uint64_t bytes) {
    shift_ = kWord;
    bytes_ = bytes;
    cells_.assign((bytes + 3) / 4, RaceCell{});
  }
  bool is_empty() const { return cells_.empty(); }
  uint64_t bytes() const { return bytes_; }
  /// Returns log2 of the size of a cell [bytes].
  unsigned shift() const { return shift_; }
  /// Returns log2 of the alignment of an access [bytes], at most kWord.
  static unsigned shift_of(uint64_t address, uint32_t bytes) {
    return static_cast<unsigned>(__builtin_ctzll(address | bytes | 1u << kWord));
  }
  /// Returns the first cell of an access whose alignment is 2^shift bytes; further cells of the
  /// access follow.
  RaceCell* at(uint64_t offset, unsigned shift) {
    if (shift < shift_) split(shift);
    return &cells_[offset >> shift_];
  }
  void fill(const RaceCell& cell) { cells_.assign(cells_.size(), cell); }

 private:
  void split(unsigned shift);

  unsigned shift_ = kWord;
  uint64_t bytes_ = 0;
  std::vector<RaceCell> cells_;
};

}  // namespace kernkit::simulator::ptx
