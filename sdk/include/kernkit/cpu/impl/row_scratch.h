// SPDX-License-Identifier: Apache-2.0
// RowScratch: allocation from the system.
#pragma once

#include <stdlib.h>

#include "kernkit/cpu/row_scratch.h"

namespace kernkit::cpu::detail {

__attribute__((noinline)) KERNKIT_COLD void RowScratch::take(int64_t index, size_t d, size_t size) {
  constexpr size_t kLine = 64;
  if (d > (SIZE_MAX - kLine) / size) throw NoRowMemory{SIZE_MAX};
  const size_t bytes = (d * size + kLine - 1) / kLine * kLine;
  if (index == count_) {
    const size_t more = (static_cast<size_t>(count_) + 1) * sizeof(Block);
    auto* blocks = static_cast<Block*>(realloc(blocks_, more));
    if (blocks == nullptr) throw NoRowMemory{more};
    blocks_ = blocks;
    blocks_[count_++] = {nullptr, 0};
  }
  free(blocks_[index].memory);
  blocks_[index] = {nullptr, 0};
  void* memory = aligned_alloc(kLine, bytes);
  if (memory == nullptr && bytes != 0) throw NoRowMemory{bytes};
  blocks_[index] = {memory, bytes};
}

__attribute__((noinline)) KERNKIT_COLD void RowScratch::release() noexcept {
  for (int64_t i = 0; i < count_; ++i) free(blocks_[i].memory);
  free(blocks_);
}

}  // namespace kernkit::cpu::detail
