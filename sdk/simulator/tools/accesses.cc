// SPDX-License-Identifier: Apache-2.0
#include "tools/accesses.h"

#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/window.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

namespace {

int split(const Operation& operation, const uint64_t (&addresses)[32], uint32_t lanes,
          Touched* all) {
  if (operation.space != Space::kGeneric) {
    all->space = operation.space;
    all->lanes = lanes;
    std::memcpy(all->at, addresses, sizeof(addresses));
    return 1;
  }
  int count = 0;
  for (uint32_t remaining = lanes; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const Located target = located(addresses[lane]);
    int i = 0;
    while (i < count && all[i].space != target.space) ++i;
    if (i == count) {
      all[count].space = target.space;
      all[count++].lanes = 0;
    }
    all[i].lanes |= kLane[lane];
    all[i].at[lane] = target.at;
  }
  return count;
}

// Converts addresses in a cluster's shared memory to offsets in the block's shared memory, and
// removes the lanes that access shared memory of another block.
void keep_own_block(const Warp& warp, const Operation& operation, Touched* all, int count) {
  const Block& own = *warp.block;
  if (own.cluster->size() == 1) return;
  if (operation.address_size == 0 && operation.space != Space::kGeneric) return;
  for (int i = 0; i < count; ++i) {
    if (all[i].space != Space::kShared) continue;
    for (uint32_t remaining = all[i].lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      if (all[i].at[lane] >> kRankShift != own.rank) all[i].lanes &= ~kLane[lane];
      all[i].at[lane] &= kInBlock;
    }
  }
}

// Splits accesses to shared memory by the block to which the memory belongs, and converts the
// addresses to offsets. Returns the number of entries.
int split_by_block(const Warp& warp, const Operation& operation, Touched* all, int count) {
  const Block& own = *warp.block;
  for (int i = 0; i < count; ++i) all[i].rank = own.rank;
  if (operation.address_size == 0 && operation.space != Space::kGeneric) return count;
  const int first_count = count;
  for (int i = 0; i < first_count; ++i) {
    if (all[i].space != Space::kShared) continue;
    const uint32_t lanes = all[i].lanes;
    for (uint32_t remaining = lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      const auto rank = static_cast<uint32_t>(all[i].at[lane] >> kRankShift);
      const uint64_t at = all[i].at[lane] & kInBlock;
      all[i].at[lane] = at;
      if (rank == own.rank) continue;
      all[i].lanes &= ~kLane[lane];
      if (rank >= own.cluster->size()) continue;  // the operation reports a fault
      int k = first_count;
      while (k < count && all[k].rank != rank) ++k;
      if (k == count) {
        all[count].space = Space::kShared;
        all[count].rank = rank;
        all[count++].lanes = 0;
      }
      all[k].lanes |= kLane[lane];
      all[k].at[lane] = at;
    }
  }
  return count;
}

bool is_of_wmma(const Operation& operation) {
  return operation.members != kNone && operation.src0 != kNone;
}

}  // namespace

int find_touched(Warp& warp, const Operation& operation, Touched* all) {
  alignas(64) uint64_t addresses[32];
  if (is_of_wmma(operation)) {
    const int accesses = static_cast<int>(Fragment::unpack(operation.target).accesses());
    for (int i = 0; i < accesses; ++i) {
      read_addresses(warp, operation, static_cast<uint32_t>(i), addresses);
      split(operation, addresses, warp.mask, &all[i]);
    }
    return accesses;
  }
  read_addresses(warp, operation, addresses);
  const uint32_t rows = operation.members != kNone ? lanes_with_rows(operation) : Warp::kAll;
  const int count = split(operation, addresses, warp.mask & rows, all);
  keep_own_block(warp, operation, all, count);
  return count;
}

int find_touched_of_all(Warp& warp, const Operation& operation, Touched* all) {
  const Block& own = *warp.block;
  if (own.cluster->size() == 1) return find_touched(warp, operation, all);
  if (is_of_wmma(operation)) {
    const int count = find_touched(warp, operation, all);
    for (int i = 0; i < count; ++i) all[i].rank = own.rank;
    return count;
  }
  alignas(64) uint64_t addresses[32];
  read_addresses(warp, operation, addresses);
  const uint32_t rows = operation.members != kNone ? lanes_with_rows(operation) : Warp::kAll;
  return split_by_block(warp, operation, all, split(operation, addresses, warp.mask & rows, all));
}

Operation source_of(const Operation& copy) {
  Operation source = copy;
  source.space = Space::kGlobal;
  source.address = copy.src0;
  source.address_size = 8;
  source.offset = static_cast<int32_t>(copy.target);
  return source;
}

uint32_t lanes_that_load(Warp& warp, const Operation& copy) {
  if (copy.src1 == kNone) return warp.mask;
  uint32_t lanes = 0;
  const auto* sizes = warp.lanes<uint32_t>(copy.src1);
  for (int l = 0; l < 32; ++l) lanes |= sizes[l] != 0 ? kLane[l] : 0;
  return lanes & warp.mask;
}

}  // namespace kernkit::simulator::ptx
