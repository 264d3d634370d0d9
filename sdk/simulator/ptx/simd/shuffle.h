// SPDX-License-Identifier: Apache-2.0
// Moves the values of shfl.sync between the lanes of a warp.
#pragma once

#include <cstring>

#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace shuffle_steps {

enum Shuffle : uint8_t { kUp, kDown, kXor, kIndex };

// Executes the common case, in which all lanes of a full warp shuffle by the same distance and with
// the default bounds. Returns false for other shuffles.
template <Shuffle kHow>
bool shuffle_full_warp(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* values,
                       uint32_t* in_range) {
  constexpr uint32_t kEnd = kHow == kUp ? 0 : 31;
  uint32_t differences = 0;
  for (int l = 0; l < 32; ++l) differences |= (b[l] ^ b[0]) | (c[l] ^ kEnd);
  if (differences != 0 || kHow == kIndex) return false;
  const uint32_t by = b[0] & 31;
  if (kHow == kXor) {
    for (uint32_t l = 0; l < 32; ++l) values[l] = a[l ^ by];
    *in_range = Warp::kAll;
    return true;
  }
  // A lane whose source lane is out of range keeps its value.
  std::memcpy(values, a, 32 * sizeof(uint32_t));
  std::memcpy(kHow == kUp ? values + by : values, kHow == kUp ? a : a + by,
              (32 - by) * sizeof(uint32_t));
  *in_range = kHow == kUp ? Warp::kAll << by : Warp::kAll >> by;
  return true;
}

template <Shuffle kHow>
void shuffle_lanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* values,
                   uint32_t* in_range) {
  alignas(64) uint32_t source[32];
  for (uint32_t l = 0; l < 32; ++l) {
    const uint32_t clamp = c[l] & 31, segment = c[l] >> 8 & 31, by = b[l] & 31;
    const uint32_t least = l & segment, most = least | (clamp & ~segment);
    const uint32_t lane = kHow == kUp     ? l - by
                          : kHow == kDown ? l + by
                          : kHow == kXor  ? l ^ by
                                          : least | (by & ~segment);
    const auto from_lane = static_cast<int32_t>(lane), end = static_cast<int32_t>(most);
    const bool in = kHow == kUp ? from_lane >= end : from_lane <= end;
    source[l] = in ? lane : l;
    *in_range |= in ? kLane[l] : 0;
  }
  for (int l = 0; l < 32; ++l) values[l] = a[source[l] & 31];
}

template <Shuffle kHow>
void shuffle(Warp& warp, const Operation& operation) {
  const auto *a = warp.lanes<uint32_t>(operation.src0), *b = warp.lanes<uint32_t>(operation.src1),
             *c = warp.lanes<uint32_t>(operation.src2);
  alignas(64) uint32_t values[32];
  uint32_t in_range = 0;
  if (!shuffle_full_warp<kHow>(a, b, c, values, &in_range)) {
    shuffle_lanes<kHow>(a, b, c, values, &in_range);
  }
  auto* d = warp.results<uint32_t>(operation.dst);
  each_lane([&](int l) { d[l] = values[l]; });
  warp.keep<uint32_t>(operation.dst);
  if (operation.dst_predicate != kNone) warp.set_predicate(operation.dst_predicate, in_range);
}

}  // namespace shuffle_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
