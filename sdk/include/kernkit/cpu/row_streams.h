// SPDX-License-Identifier: Apache-2.0
// RowStreams: selects the results of a body that are written by non-temporal stores.
#pragma once

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"

namespace kernkit::cpu::detail {

/// Selects the map() calls of a body whose results are written by non-temporal stores: bit k is set
/// for map() call k of a row, counted from 0. A result that the body also reads, before or after
/// the call, is stored normally and stays in the caches. The first row of a call of rows()
/// determines the bits, which affect the speed of the later rows, but not the results.
///
/// Each row records its reads and writes by plain stores: a branch in each pass would take a tenth
/// of a kernel's compile time.
class RowStreams {
 public:
  static constexpr int kUnknown = -1;

  /// *shared holds the bits for all threads, or kUnknown. `shared` is null if no result is written
  /// by non-temporal stores.
  KERNKIT_INLINE explicit RowStreams(int* shared) : shared_(shared) {
    const int learned = shared == nullptr ? 0 : __atomic_load_n(shared, __ATOMIC_RELAXED);
    learning_ = learned == kUnknown;
    bits_ = learning_ ? 0 : static_cast<unsigned>(learned);
  }
  /// Numbers of map() calls and of reads in the current row so far. A separate struct, not members
  /// of RowStreams, so that the compiler can keep the counts in registers or compute them.
  struct Row {
    unsigned maps = 0, reads = 0;
  };
  KERNKIT_INLINE void end_row(const Row& row) {
    if (__builtin_expect(learning_, 0)) end_learning(row.maps, row.reads);
  }
  /// Records that the body reads the rows at `in`.
  template <class... In>
  KERNKIT_INLINE void read(Row& row, const In*... in) {
    ((ins_[row.reads++ % kReads] = in), ...);
  }
  /// Returns whether the next map(), which writes to `out`, uses non-temporal stores.
  KERNKIT_INLINE bool next(Row& row, const void* out) {
    const unsigned k = row.maps++;
    outs_[k % kMaps] = out;
    return (bits_ >> k % 32 & 1) != 0;
  }

 private:
  static constexpr unsigned kMaps = 4, kReads = 8;

  KERNKIT_LOCAL void end_learning(unsigned maps, unsigned reads) noexcept;

  int* shared_;
  unsigned bits_;  // 0 in the first row, while learning_ is true
  bool learning_;
  const void* outs_[kMaps];
  const void* ins_[kReads];
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_streams.h"
#endif
