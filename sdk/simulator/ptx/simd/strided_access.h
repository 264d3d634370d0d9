// SPDX-License-Identifier: Apache-2.0
// An access whose lanes are at equal distances, the common case. One check covers all lanes.
#pragma once

#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/simd_target.h"
#include "ptx/machine/window.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {

struct StridedAccess {
  uintptr_t first;  // host address for lane 0, which may be inactive
  int64_t stride;   // distance between adjacent lanes [bytes]
  unsigned char* at_lane(int lane) const {
    return reinterpret_cast<unsigned char*>(first + static_cast<uint64_t>(stride * lane));
  }
};

// Returns whether the value of a register increases by `stride` from each lane to the next lane.
template <class A>
inline bool have_stride(const A* registers, A stride) {
  A differences = 0;
  for (int l = 1; l < 32; ++l) differences |= registers[l] - registers[l - 1] - stride;
  return differences == 0;
}

/// Finds the address and the stride of an access whose lanes access one allocation at a constant
/// stride. Returns false for other accesses, which need a check of each lane, for example to report
/// an error.
inline bool find_strided_access(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                                StridedAccess* row) {
  constexpr int64_t kFar = 1 << 24;  // largest stride without wraparound [bytes]
  auto first = static_cast<uint64_t>(operation.offset);
  row->stride = 0;
  if (operation.address_size == 8) {
    const auto* base = warp.lanes<uint64_t>(operation.address);
    row->stride = static_cast<int64_t>(base[1] - base[0]);
    if (!have_stride(base, base[1] - base[0])) return false;
    first += base[0];
  } else if (operation.address_size == 4) {
    const auto* base = warp.lanes<uint32_t>(operation.address);
    row->stride = static_cast<int32_t>(base[1] - base[0]);
    if (!have_stride(base, base[1] - base[0])) return false;
    first = static_cast<uint32_t>(first + base[0]);
  }
  if (row->stride > kFar || row->stride < -kFar) return false;
  const auto of_lane = [&](int lane) { return first + static_cast<uint64_t>(row->stride * lane); };
  uint64_t low = of_lane(__builtin_ctz(warp.mask)), high = of_lane(31 - __builtin_clz(warp.mask));
  if (((low | static_cast<uint64_t>(row->stride)) & (size - 1)) != 0) return false;
  if (row->stride < 0) std::swap(low, high);

  Space space = operation.space;
  if (space == Space::kGeneric) {
    const Located window_address = located(low);
    const uint64_t window = low - window_address.at;
    space = window_address.space;
    first -= window;
    low -= window;
    high -= window;
  }
  if (space == Space::kGlobal) {
    const Range& range = warp.ranges[operation.number];
    if (low < range.begin || low >= range.end) renew_range(warp, operation, low);
    row->first = first;
    return low >= range.begin && high < range.end && range.end - high >= size;
  }
  if (space == Space::kParam && touch != Touch::kLoads) return false;
  const Window& window = space == Space::kShared  ? warp.shared
                         : space == Space::kLocal ? warp.local
                                                  : warp.parameters;
  row->first = reinterpret_cast<uintptr_t>(window.begin) + first;
  row->stride += window.bytes_of_lane;
  uint64_t begin = 0, end = window.bytes;
  if (space == Space::kShared) {
    begin = operation.shared_begin;
    if (end > operation.shared_end) end = operation.shared_end;
  }
  return low >= begin && low < end && high < end && end - high >= size;
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
