// SPDX-License-Identifier: Apache-2.0
// What the body of rows() has written to memory on a CPU.
#pragma once

#include <stdint.h>

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"

namespace kernkit::cpu::detail {

/// The same as kernkit::detail::RowWrites, in memory and with little code in a kernel. `count`: the
/// number of writes of the row so far, which the caller has, so that a compiler knows it: a use
/// compares numbers, and looks here only after a later write.
class RowLog {
 public:
  // Leaves the entries uninitialised.
  KERNKIT_INLINE RowLog() {}

  /// The bytes [begin, end) are written.
  KERNKIT_INLINE void add(int count, uintptr_t begin, uintptr_t end) {
    if (count < kEntries) {
      entries_[count] = {begin, end, count + 1};
    } else {
      replace({begin, end, count + 1});
    }
  }

  /// Whether a write after number `since` changed one of the bytes [from, to).
  KERNKIT_LOCAL bool changed(int count, uintptr_t from, uintptr_t to, int since) const noexcept;

 private:
  static constexpr int kEntries = 6;

  struct Entry {
    uintptr_t begin, end;
    int number;
  };
  KERNKIT_LOCAL void replace(const Entry& write) noexcept;

  Entry entries_[kEntries];  // the oldest first
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_log.h"
#endif
