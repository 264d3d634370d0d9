// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a map() over a row come from and go to, where the row is not made in one run.
#pragma once

#include "kernkit/base/cold.h"
#include "kernkit/cpu/traffic.h"

namespace kernkit::cpu::detail {

/// The runs of blocks of a map() that streams, or whose row has a part of a block at its end. The
/// last block, which may overlap the block before, is computed first, since the row may be written
/// in place, and is stored at the end. Results that stream are made in the first cache, a part of
/// the row at a time.
///
/// Without the types of elements: compiled once, so that a kernel compiles each block once.
class RowPass {
 public:
  /// The most bytes of a run that streams.
  static constexpr size_t kPart = 2048;

  // Leaves the parts uninitialised.
  KERNKIT_INLINE RowPass() {}

  /// The first run of a row of d elements of `size` bytes at `out`. `last`: memory of a block.
  /// `avx`: whether stores have 32 bytes.
  KERNKIT_LOCAL void begin(void* out, int64_t d, size_t size, void* last,
                                             bool streaming, bool avx);
  /// Stores the results of this run where they belong. Returns whether another run follows.
  KERNKIT_LOCAL bool next();

  /// The run: `count` elements from number `first` on, a multiple of blocks, and the memory for
  /// their results.
  int64_t first() const { return first_; }
  int64_t count() const { return count_; }
  void* to() const { return to_; }

 private:
  bool next_run(int64_t first);

  void* to_;
  int64_t first_, count_;
  unsigned char *out_, *last_;
  int64_t d_;
  size_t size_;
  bool streaming_, avx_;
  alignas(64) unsigned char part_[kPart];
};

}  // namespace kernkit::cpu::detail

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/row_pass.h"
#endif
