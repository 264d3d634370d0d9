// SPDX-License-Identifier: Apache-2.0
// BlockOrder: the selection and the order of the blocks of a grid that run.
#pragma once

#include <cstdint>

namespace kernkit::simulator {

class BlockOrder {
 public:
  /// Selects 9 groups of `sample` / 9 blocks: at the start, at the end and at each eighth of the
  /// `count` blocks. Selects all blocks if `sample` is below 9 or not below `count`.
  BlockOrder(uint64_t count, uint64_t sample);
  /// Replaces the ascending order by an order that begins with the `first`-th selected block and
  /// advances by about `stride` blocks, modulo the number of selected blocks.
  void mix(uint64_t first, uint64_t stride);

  uint64_t runs() const { return runs_; }
  bool done() const { return taken_ == runs_; }
  /// Returns the number of the next block to run.
  uint64_t take();

 private:
  uint64_t count_;
  uint64_t group_;  // number of blocks in a group; 0 if all blocks run
  uint64_t runs_;
  uint64_t taken_ = 0;
  uint64_t first_ = 0;
  uint64_t stride_ = 1;
};

}  // namespace kernkit::simulator
