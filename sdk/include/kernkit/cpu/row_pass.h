// SPDX-License-Identifier: Apache-2.0
// RowPass: non-temporal stores of the results of a map() over a row.
#pragma once

#include "kernkit/base/cold.h"
#include "kernkit/cpu/memory_hints.h"

namespace kernkit::cpu::detail {

/// Splits a row with non-temporal stores into parts: the caller computes a part in a buffer that
/// fits the first-level cache, and next() copies the buffer to the output by non-temporal stores.
/// The class is independent of element types, so that all kernels share its code.
class RowPass {
 public:
  // Leaves the buffer uninitialised.
  KERNKIT_INLINE RowPass() {}

  /// Begins a pass over d elements of `size` bytes at `out`. `avx` selects stores of 32 bytes.
  KERNKIT_LOCAL void begin(void* out, int64_t d, size_t size, bool avx) noexcept;
  /// Stores the current part. Returns the number of elements of the next part, 0 after the last
  /// part.
  KERNKIT_LOCAL int64_t next() noexcept;

  /// Index of the part's first element.
  int64_t first() const { return first_; }
  /// The buffer for the results of the part.
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
