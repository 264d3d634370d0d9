// SPDX-License-Identifier: Apache-2.0
// Which results of a row's body go past the caches.
#pragma once

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"

namespace kernkit::cpu::detail {

/// The map() calls of a body whose results may stream: bit k is call number k of a row. Results
/// that the body reads as well, before or after, are in the caches and stay there. The first row of
/// a call of rows() shows which these are; only the time of other rows depends on it.
///
/// Each row records what it reads and writes, by stores alone: a branch in each pass would take a
/// tenth of the compilation of a kernel.
class RowStreams {
 public:
  static constexpr int kUnknown = -1;

  /// `shared`: the bits, or kUnknown, of all threads; null where nothing streams.
  KERNKIT_INLINE explicit RowStreams(int* shared) : shared_(shared) {
    const int known = shared == nullptr ? 0 : __atomic_load_n(shared, __ATOMIC_RELAXED);
    learning_ = known == kUnknown;
    bits_ = learning_ ? 0 : static_cast<unsigned>(known);
  }
  /// What a row has read and written so far. Not a member: a compiler keeps it in registers, or
  /// knows it.
  struct Row {
    unsigned maps = 0, reads = 0;
  };
  KERNKIT_INLINE void end_row(const Row& row) {
    if (__builtin_expect(learning_, 0)) end_learning(row.maps, row.reads);
  }
  /// The body reads the rows at `in`.
  template <class... In>
  KERNKIT_INLINE void read(Row& row, const In*... in) {
    ((ins_[row.reads++ % kReads] = in), ...);
  }
  /// Whether the next map() streams, whose results belong at `out`.
  KERNKIT_INLINE bool next(Row& row, const void* out) {
    const unsigned k = row.maps++;
    outs_[k % kMaps] = out;
    return (bits_ >> k % 32 & 1) != 0;
  }

 private:
  static constexpr unsigned kMaps = 4, kReads = 8;

  KERNKIT_LOCAL void end_learning(unsigned maps, unsigned reads) noexcept;

  int* shared_;
  unsigned bits_;  // 0 while learning
  bool learning_;
  const void* outs_[kMaps];
  const void* ins_[kReads];
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_streams.h"
#endif
