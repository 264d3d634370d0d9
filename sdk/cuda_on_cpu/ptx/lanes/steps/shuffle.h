// SPDX-License-Identifier: Apache-2.0
// shfl.
#pragma once

#include "ptx/lanes/lanes.h"

namespace kernkit::cuda_on_cpu::ptx {
inline namespace KERNKIT_PTX_WAY {
namespace shuffle_steps {

enum Shuffle : uint8_t { kUp, kDown, kXor, kIndex };

template <Shuffle kHow>
void shuffle(Warp& warp, const Operation& operation) {
  const auto *a = warp.lanes<uint32_t>(operation.a), *b = warp.lanes<uint32_t>(operation.b),
             *c = warp.lanes<uint32_t>(operation.c);
  alignas(64) uint32_t source[32], values[32];
  uint32_t in_range = 0;
  for (uint32_t l = 0; l < 32; ++l) {
    const uint32_t clamp = c[l] & 31, segment = c[l] >> 8 & 31, by = b[l] & 31;
    const uint32_t least = l & segment, most = least | (clamp & ~segment);
    const uint32_t lane = kHow == kUp     ? l - by
                          : kHow == kDown ? l + by
                          : kHow == kXor  ? l ^ by
                                          : least | (by & ~segment);
    const auto near = static_cast<int32_t>(lane), end = static_cast<int32_t>(most);
    const bool in = kHow == kUp ? near >= end : near <= end;
    source[l] = in ? lane : l;
    in_range |= in ? kLane[l] : 0;
  }
  for (int l = 0; l < 32; ++l) values[l] = a[source[l] & 31];
  auto* d = warp.results<uint32_t>(operation.to);
  each_lane([&](int l) { d[l] = values[l]; });
  warp.keep<uint32_t>(operation.to);
  if (operation.to_predicate != kNone) warp.set_predicate(operation.to_predicate, in_range);
}

}  // namespace shuffle_steps
}  // namespace KERNKIT_PTX_WAY
}  // namespace kernkit::cuda_on_cpu::ptx
