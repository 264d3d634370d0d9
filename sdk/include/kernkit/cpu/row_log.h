// SPDX-License-Identifier: Apache-2.0
// What the body of rows() has written to memory on a CPU.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"
#include "kernkit/memory/row_writes.h"

namespace kernkit::cpu::detail {

/// The same as kernkit::detail::RowWrites, in memory and with little code in a kernel: a use
/// compares numbers, and memory only after a later write.
class RowLog {
 public:
  /// The number of writes so far.
  KERNKIT_INLINE int count() const { return count_; }

  /// out[0 ... d) is written.
  template <class T>
  KERNKIT_INLINE void add(const T* out, int64_t d) {
    const kernkit::detail::RowWrite write{address(out), address(out) + bytes<T>(d), count_ + 1};
    if (count_ < kEntries) {
      entries_[count_] = write;
    } else {
      replace(write);
    }
    ++count_;
  }

  /// Whether one of the d elements of `row` was written since the body got them.
  template <class T>
  KERNKIT_INLINE bool changed(const kernkit::detail::RowInMemory<T>& row, int64_t d) const {
    return row.since != count_ &&
           changed(address(row.at), address(row.at) + bytes<T>(d), row.since);
  }

 private:
  static constexpr int kEntries = 6;

  KERNKIT_INLINE static uintptr_t address(const void* at) {
    return reinterpret_cast<uintptr_t>(at);
  }
  template <class T>
  KERNKIT_INLINE static uintptr_t bytes(int64_t d) {
    return static_cast<uintptr_t>(d) * sizeof(T);
  }
  KERNKIT_LOCAL void replace(const kernkit::detail::RowWrite& write);
  KERNKIT_LOCAL bool changed(uintptr_t from, uintptr_t to, int since) const;

  int count_ = 0;
  kernkit::detail::RowWrite entries_[kEntries];  // the oldest first
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_log.h"
#endif
