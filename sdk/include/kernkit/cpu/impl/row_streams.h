// SPDX-License-Identifier: Apache-2.0
// RowStreams: the choice of results for non-temporal stores, after the first row.
#pragma once

#include "kernkit/cpu/row_streams.h"

namespace kernkit::cpu::detail {

/// Ends the first row: chooses the results that are written by non-temporal stores, or no result if
/// the body reads or writes more rows than are recorded.
__attribute__((noinline)) KERNKIT_COLD void RowStreams::end_learning(unsigned maps,
                                                                     unsigned reads) noexcept {
  learning_ = false;
  if (maps <= kMaps && reads <= kReads) {
    for (unsigned k = 0; k < maps; ++k) {
      bool is_read = false;
      for (unsigned i = 0; i < reads; ++i) is_read = is_read || ins_[i] == outs_[k];
      if (!is_read) bits_ |= 1U << k;
    }
  }
  __atomic_store_n(shared_, static_cast<int>(bits_), __ATOMIC_RELAXED);
}

}  // namespace kernkit::cpu::detail
