// SPDX-License-Identifier: Apache-2.0
// Results of a map() over a row on their way past the caches.
#pragma once

#include "kernkit/base/cold.h"
#include "kernkit/cpu/memory_hints.h"

namespace kernkit::cpu::detail {

/// The parts of a row whose results stream: they are made in the first cache and go past the caches
/// from there. Without the types of elements: compiled once for all kernels.
class RowPass {
 public:
  // Leaves the memory of a part uninitialised.
  KERNKIT_INLINE RowPass() {}

  /// A pass over d elements of `size` bytes at `out`. `avx`: whether stores have 32 bytes.
  KERNKIT_LOCAL void begin(void* out, int64_t d, size_t size, bool avx) noexcept;
  /// Stores the part that was made. Returns the elements of the next part, 0 after the last part.
  KERNKIT_LOCAL int64_t next() noexcept;

  /// The number of the part's first element.
  int64_t first() const { return first_; }
  /// The memory for the results of the part.
  void* to() { return bytes_; }

 private:
  static constexpr size_t kBytes = 2048;

  int64_t first_, count_, d_;
  unsigned char* out_;
  size_t size_;
  bool avx_;
  alignas(64) unsigned char bytes_[kBytes];
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_pass.h"
#endif
