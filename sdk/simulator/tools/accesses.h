// SPDX-License-Identifier: Apache-2.0
// Touched: where the lanes of a warp touch memory, before they do.
#pragma once

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Touched {
  Space space = Space::kGlobal;
  uint32_t lanes = 0;  // the lanes with addresses in this space
  uint64_t at[32];     // of windows what their space counts
};

/// One for each space: by generic addresses lanes may touch several; of wmma one for each of its
/// accesses. Returns how many.
int find_touched(Warp& warp, const Operation& operation, Touched* all);
inline constexpr int kMostTouched = 16;
/// Where cp.async copies from, as a load has it. Lanes that fill with zeros do not load.
Operation source_of(const Operation& copy);
uint32_t lanes_that_load(Warp& warp, const Operation& copy);

}  // namespace kernkit::simulator::ptx
