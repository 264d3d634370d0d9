// SPDX-License-Identifier: Apache-2.0
// RowLog: replacement of entries, and the search for later writes.
#pragma once

#include "kernkit/cpu/row_log.h"

namespace kernkit::cpu::detail {

/// Makes room for `write` and appends it: removes the newest entry whose bytes `write` covers, or,
/// if `write` covers no entry, merges the two oldest entries into one entry that covers both.
__attribute__((noinline)) KERNKIT_COLD void RowLog::replace(const Entry& write) noexcept {
  const auto covered = [&write](const Entry& entry) {
    return write.begin <= entry.begin && entry.end <= write.end;
  };
  int removed = kEntries - 1;
  while (removed >= 0 && !covered(entries_[removed])) --removed;
  if (removed < 0) {
    removed = 0;
    if (entries_[0].begin < entries_[1].begin) entries_[1].begin = entries_[0].begin;
    if (entries_[0].end > entries_[1].end) entries_[1].end = entries_[0].end;
  }
  for (int k = removed; k + 1 < kEntries; ++k) entries_[k] = entries_[k + 1];
  entries_[kEntries - 1] = write;
}

__attribute__((noinline)) KERNKIT_COLD bool RowLog::changed(int count, uintptr_t from, uintptr_t to,
                                                            int since) const noexcept {
  for (int k = 0; k < kEntries && k < count; ++k) {
    const Entry& entry = entries_[k];
    if (entry.number > since && entry.begin < to && from < entry.end) return true;
  }
  return false;
}

}  // namespace kernkit::cpu::detail
