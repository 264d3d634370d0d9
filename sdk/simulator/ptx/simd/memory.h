// SPDX-License-Identifier: Apache-2.0
// ld and st on 32 lanes.
#pragma once

#include <cstring>
#include <type_traits>

#include "ptx/simd/lanes.h"
#include "ptx/simd/strided_access.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace memory_steps {

// Loads an element. M is the type of the element in memory, R the type of its register, which may
// be wider.
template <class M, class R>
R load_from(const unsigned char* memory) {
  M value;
  std::memcpy(&value, memory, sizeof(M));
  return static_cast<R>(
      static_cast<std::conditional_t<std::is_signed_v<M>, int64_t, uint64_t>>(value));
}
template <class M, class R>
void store_at(unsigned char* memory, R element) {
  const auto value = static_cast<M>(element);
  std::memcpy(memory, &value, sizeof(M));
}
// Calls step(l) for each lane l in `mask`.
template <class Step>
void each_of(uint32_t mask, const Step& step) {
  if (mask == Warp::kAll) {
    for (int l = 0; l < 32; ++l) step(l);
    return;
  }
  for (uint32_t remaining = mask; remaining != 0; remaining &= remaining - 1)
    step(__builtin_ctz(remaining));
}
// Returns whether the active lanes are lanes 0 to n, for some n, and access contiguous elements
// whose size is the size of the register.
template <class M, class R>
bool is_dense(const Warp& warp, const Operation& operation, const StridedAccess& row) {
  return sizeof(M) == sizeof(R) && row.stride == sizeof(M) && operation.count == 1 &&
         (warp.mask & (warp.mask + 1)) == 0;
}
// Copies the elements of the active lanes of a dense access. For a full warp, the size is a
// compile-time constant.
template <class R>
void copy_dense(const Warp& warp, void* to, const void* from) {
  if (warp.mask == Warp::kAll) {
    std::memcpy(to, from, 32 * sizeof(R));
  } else {
    std::memcpy(to, from, sizeof(R) * static_cast<size_t>(__builtin_ctz(~warp.mask)));
  }
}

template <class M, class R>
void load_lanes(Warp& warp, const Operation& operation) {
  StridedAccess row;
  LanePointers pointers;
  const bool in_row = find_strided_access(warp, operation, operation.bytes, Touch::kLoads, &row);
  if (!in_row) find_pointers(warp, operation, operation.bytes, Touch::kLoads, &pointers);
  for (int k = 0; k < operation.count; ++k) {
    if (operation.list[k] == kNone) continue;
    R* d = warp.lanes<R>(operation.list[k]);
    const size_t skip = sizeof(M) * static_cast<size_t>(k);
    if (!in_row) {
      each_of(warp.mask, [&](int l) { d[l] = load_from<M, R>(pointers.at[l] + skip); });
    } else if (row.stride == 0) {
      const R value = load_from<M, R>(row.at_lane(0) + skip);
      each_of(warp.mask, [d, value](int l) { d[l] = value; });
    } else if (is_dense<M, R>(warp, operation, row)) {
      copy_dense<R>(warp, d, row.at_lane(0));
    } else {
      each_of(warp.mask, [&](int l) { d[l] = load_from<M, R>(row.at_lane(l) + skip); });
    }
  }
}

template <class M, class R>
void store_lanes(Warp& warp, const Operation& operation) {
  StridedAccess row;
  LanePointers pointers;
  const bool in_row = find_strided_access(warp, operation, operation.bytes, Touch::kStores, &row);
  if (!in_row) find_pointers(warp, operation, operation.bytes, Touch::kStores, &pointers);
  for (int k = 0; k < operation.count; ++k) {
    const R* a = warp.lanes<R>(operation.list[k]);
    const size_t skip = sizeof(M) * static_cast<size_t>(k);
    if (!in_row) {
      each_of(warp.mask, [&](int l) { store_at<M>(pointers.at[l] + skip, a[l]); });
    } else if (is_dense<M, R>(warp, operation, row)) {
      copy_dense<R>(warp, row.at_lane(0), a);
    } else {
      each_of(warp.mask, [&](int l) { store_at<M>(row.at_lane(l) + skip, a[l]); });
    }
  }
}

}  // namespace memory_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
