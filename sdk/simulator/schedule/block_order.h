// SPDX-License-Identifier: Apache-2.0
// BlockOrder: the selection and the order of the blocks of a grid that run.
#pragma once

#include <cstdint>

namespace kernkit::simulator {

class BlockOrder {
 public:
  /// Selects all of `count` blocks, or `sample` of them: groups at the start, the end and each
  /// eighth.
  BlockOrder(uint64_t count, uint64_t sample);
  /// Sets an order other than ascending.
  void mix(uint64_t first, uint64_t stride);

  uint64_t runs() const { return runs_; }
  bool done() const { return taken_ == runs_; }
  /// Returns the next block's number.
  uint64_t take();

 private:
  uint64_t count_;
  uint64_t group_;  // blocks of a group; 0 if all blocks run
  uint64_t runs_;
  uint64_t taken_ = 0;
  uint64_t first_ = 0;
  uint64_t stride_ = 1;
};

}  // namespace kernkit::simulator
