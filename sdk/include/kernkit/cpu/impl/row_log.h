// SPDX-License-Identifier: Apache-2.0
// The writes of a row's body, compared with values that came from memory before.
#pragma once

#include "kernkit/cpu/row_log.h"

namespace kernkit::cpu::detail {

/// The newest entry that `write` covers makes room, or else the two oldest entries become one
/// entry, from the first byte of both to the last.
__attribute__((noinline)) KERNKIT_COLD void RowLog::replace(const kernkit::detail::RowWrite& write) {
  int gone = kEntries - 1;
  while (gone >= 0 && !write.covers(entries_[gone])) --gone;
  if (gone < 0) {
    gone = 0;
    if (entries_[0].begin < entries_[1].begin) entries_[1].begin = entries_[0].begin;
    if (entries_[0].end > entries_[1].end) entries_[1].end = entries_[0].end;
  }
  for (int k = gone; k + 1 < kEntries; ++k) entries_[k] = entries_[k + 1];
  entries_[kEntries - 1] = write;
}

__attribute__((noinline)) KERNKIT_COLD bool RowLog::changed(uintptr_t from, uintptr_t to, int since) const {
  for (int k = 0; k < kEntries && k < count_; ++k) {
    if (entries_[k].number > since && entries_[k].overlaps(from, to)) return true;
  }
  return false;
}

}  // namespace kernkit::cpu::detail
