// SPDX-License-Identifier: Apache-2.0
// RowWrites: the memory that the body of rows() has written, and checks that the body does not use
// a value after overwriting its memory.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernkit/base/inline.h"
#include "kernkit/float.h"

namespace kernkit::detail {

/// The bytes [begin, end) that a write in a row's body changed. Writes are numbered from 1; number
/// 0 marks an unused entry.
struct RowWrite {
  uintptr_t begin = 0, end = 0;
  int number = 0;

  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool covers(const RowWrite& other) const {
    return begin <= other.begin && other.end <= end;
  }
  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool overlaps(uintptr_t from, uintptr_t to) const {
    return (begin < to) & (from < end);
  }
};

/// The last kCount writes, each in a separate member, so that the compiler can keep the members in
/// registers and remove members that are never read.
template <int kCount>
class LastRowWrites {
 public:
  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool full() const { return earlier_.full(); }
  /// Adds a write. Requires that full() is false.
  KERNKIT_HOST_DEVICE KERNKIT_INLINE void add(const RowWrite& write) {
    earlier_.add(last_);
    last_ = write;
  }
  /// Adds the write `carried`. Requires that full() is true. To make room, removes the newest entry
  /// that `write` covers or, if `write` covers no entry, merges the two oldest entries.
  KERNKIT_HOST_DEVICE KERNKIT_INLINE void replace(const RowWrite& carried, const RowWrite& write) {
    const RowWrite previous = last_;
    last_ = carried;
    if (!write.covers(previous)) earlier_.replace(previous, write);
  }
  /// Returns whether a write with a number above `since` changed one of the bytes [from, to).
  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool changed(uintptr_t from, uintptr_t to, int since) const {
    const bool by_last = (last_.number > since) & last_.overlaps(from, to);
    return (int{by_last} | int{earlier_.changed(from, to, since)}) != 0;
  }

 private:
  RowWrite last_;
  LastRowWrites<kCount - 1> earlier_;
};

template <>
class LastRowWrites<1> {
 public:
  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool full() const { return last_.number != 0; }
  KERNKIT_HOST_DEVICE KERNKIT_INLINE void add(const RowWrite& write) { last_ = write; }
  KERNKIT_HOST_DEVICE KERNKIT_INLINE void replace(const RowWrite& carried, const RowWrite& write) {
    if (write.covers(last_)) {
      last_ = carried;
    } else {
      if (carried.begin < last_.begin) last_.begin = carried.begin;
      if (carried.end > last_.end) last_.end = carried.end;
      last_.number = carried.number;
    }
  }
  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool changed(uintptr_t from, uintptr_t to, int since) const {
    return (last_.number > since) & last_.overlaps(from, to);
  }

 private:
  RowWrite last_;
};

/// A row that load() or map() returned and that is not kept in registers. Each use reads memory,
/// after a check that the body has not overwritten the row.
template <class T>
struct RowInMemory {
  const T* at;
  int since;  // number of the last write before these values were read or written
};

/// The writes that one row's body makes with map() and put(). Records up to kEntries separate
/// ranges; when there are more, merges the oldest ranges, including the bytes between them.
class RowWrites {
 public:
  /// Number of writes that were added so far.
  KERNKIT_HOST_DEVICE KERNKIT_INLINE int count() const { return count_; }

  /// Records a write of out[0 ... d).
  template <class T>
  KERNKIT_HOST_DEVICE KERNKIT_INLINE void add(const T* out, int64_t d) {
    const auto begin = reinterpret_cast<uintptr_t>(out);
    const RowWrite write{begin, end_of(out, d), ++count_};
    if (writes_.full()) {
      writes_.replace(write, write);
    } else {
      writes_.add(write);
    }
  }

  /// Returns whether no write has changed the d elements of `row` since the body obtained the row.
  template <class T>
  KERNKIT_HOST_DEVICE KERNKIT_INLINE bool unchanged(const RowInMemory<T>& row, int64_t d) const {
    return !writes_.changed(reinterpret_cast<uintptr_t>(row.at), end_of(row.at, d), row.since);
  }

 private:
  static constexpr int kEntries = 6;

  template <class T>
  KERNKIT_HOST_DEVICE KERNKIT_INLINE static uintptr_t end_of(const T* row, int64_t d) {
    return reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(d) * sizeof(T);
  }

  LastRowWrites<kEntries> writes_;
  int count_ = 0;
};

}  // namespace kernkit::detail
