// SPDX-License-Identifier: Apache-2.0
// The memory in which a thread keeps what an op made of a row.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"

namespace kernkit::cpu::detail {

/// Of one row at a time: taken when a row asks first, freed with the loop over rows.
class RowScratch {
 public:
  RowScratch() = default;
  RowScratch(const RowScratch&) = delete;
  RowScratch& operator=(const RowScratch&) = delete;
  KERNKIT_INLINE ~RowScratch() {
    if (memory_ != nullptr) free(memory_);
  }

  /// The next row begins: what was kept of the last one is no longer needed.
  KERNKIT_INLINE void begin_row() { is_kept_ = false; }

  /// Memory for d elements, or null: when the row keeps something already, when the system has
  /// none, and beyond kMost.
  template <class R>
  KERNKIT_INLINE R* of(int64_t d) {
    const size_t bytes = static_cast<size_t>(d) * sizeof(R);
    if (is_kept_ || bytes > kMost) return nullptr;
    if (bytes > size_) take(bytes);
    is_kept_ = bytes <= size_;
    return is_kept_ ? static_cast<R*>(memory_) : nullptr;
  }

 private:
  static constexpr size_t kMost = size_t{64} << 20;

  __attribute__((noinline)) KERNKIT_LOCAL void take(size_t bytes) {
    free(memory_);
    const size_t lines = (bytes + 63) / 64;
    memory_ = aligned_alloc(64, 64 * lines);
    size_ = memory_ == nullptr ? 0 : bytes;
  }

  void* memory_ = nullptr;
  size_t size_ = 0;
  bool is_kept_ = false;
};

/// What an op made of a row, or null: then again(pass) calls pass(op, in...).
template <class R, class Again>
struct Kept {
  const R* values;
  Again again;
};

}  // namespace kernkit::cpu::detail
