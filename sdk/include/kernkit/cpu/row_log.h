// SPDX-License-Identifier: Apache-2.0
// RowLog: the memory that the body of rows() has written, on a CPU.
#pragma once

#include <stdint.h>

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"

namespace kernkit::cpu::detail {

/// Log of the bytes that the body of rows() has written in the current row, for checks that a value
/// was not overwritten before its use. Serves the same purpose as kernkit::detail::RowWrites, but
/// keeps the log in memory, which adds little code to a kernel. `count` is the number of writes to
/// the row so far. The caller owns `count`, so that the compiler can keep `count` in a register: a
/// use of a value compares two counts, and searches the log only if a later write exists.
class RowLog {
 public:
  // Leaves the entries uninitialised.
  KERNKIT_INLINE RowLog() {}

  /// Records a write of the bytes [begin, end).
  KERNKIT_INLINE void add(int count, uintptr_t begin, uintptr_t end) {
    if (count < kEntries) {
      entries_[count] = {begin, end, count + 1};
    } else {
      replace({begin, end, count + 1});
    }
  }

  /// Returns whether a write with a number above `since` changed one of the bytes [from, to).
  KERNKIT_LOCAL bool changed(int count, uintptr_t from, uintptr_t to, int since) const noexcept;

 private:
  static constexpr int kEntries = 6;

  struct Entry {
    uintptr_t begin, end;
    int number;
  };
  KERNKIT_LOCAL void replace(const Entry& write) noexcept;

  Entry entries_[kEntries];  // oldest first
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_log.h"
#endif
