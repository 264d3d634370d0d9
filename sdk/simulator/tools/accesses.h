// SPDX-License-Identifier: Apache-2.0
// Touched: the addresses that the lanes of a warp are about to access.
#pragma once

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Touched {
  Space space = Space::kGlobal;
  uint32_t lanes = 0;  // mask of the lanes with addresses in this space
  uint64_t at[32];     // address of each lane; an offset, except in global memory
  uint32_t rank = 0;   // rank of the block with the shared memory, see find_touched_of_all()
};

/// Writes to `all` one Touched per address space that the lanes access (generic addresses may be in
/// several spaces), and for wmma one Touched per access. Accesses to shared memory of another block
/// of the cluster are left out. Returns the number of entries, at most kMostTouched.
int find_touched(Warp& warp, const Operation& operation, Touched* all);
inline constexpr int kMostTouched = 16;
/// Like find_touched(), but includes accesses to shared memory of other blocks of the cluster, with
/// one Touched for each accessed block. Returns at most kMostTouchedOfAll.
int find_touched_of_all(Warp& warp, const Operation& operation, Touched* all);
inline constexpr int kMostTouchedOfAll = 24;
/// Returns the load from the source address of a cp.async. lanes_that_load() returns the mask of
/// the lanes that load at least one byte; the other lanes only store zeros.
Operation source_of(const Operation& copy);
uint32_t lanes_that_load(Warp& warp, const Operation& copy);

}  // namespace kernkit::simulator::ptx
