// SPDX-License-Identifier: Apache-2.0
// RowScratch: a thread's memory for the results of row.keep().
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernkit/base/cold.h"
#include "kernkit/base/inline.h"

namespace kernkit::cpu::detail {

/// Thrown when the system has no memory for the results of row.keep().
struct NoRowMemory {
  size_t bytes;
};

/// Memory for the kept results of one row at a time: allocated at the first use, reused for the
/// next rows, freed at the end of the loop over rows.
class RowScratch {
 public:
  RowScratch() = default;
  RowScratch(const RowScratch&) = delete;
  RowScratch& operator=(const RowScratch&) = delete;
  KERNKIT_INLINE ~RowScratch() {
    if (blocks_ != nullptr) release();
  }

  /// Begins a row: memory of the previous row may be reused.
  KERNKIT_INLINE void begin_row() { taken_ = 0; }

  /// Returns memory for d elements, which no other call for this row returns. Throws NoRowMemory if
  /// the system has no memory left.
  template <class R>
  KERNKIT_INLINE R* allocate(int64_t d) {
    const int64_t index = taken_++;
    if (__builtin_expect(index >= count_ || d > blocks_[index].elements_of(sizeof(R)), 0)) {
      take(index, static_cast<size_t>(d), sizeof(R));
    }
    return static_cast<R*>(blocks_[index].memory);
  }

 private:
  struct Block {
    void* memory;
    size_t bytes;
    int64_t elements_of(size_t size) const { return static_cast<int64_t>(bytes / size); }
  };

  KERNKIT_LOCAL void take(int64_t index, size_t d, size_t size);
  KERNKIT_LOCAL void release() noexcept;

  Block* blocks_ = nullptr;
  int64_t count_ = 0;
  int64_t taken_ = 0;  // blocks in use by the current row
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_scratch.h"
#endif
