// SPDX-License-Identifier: Apache-2.0
// LaneTimes: the times of the lanes of warps that releases have made visible to other threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace kernkit::simulator::ptx {

/// For each lane of a warp: the first time of the lane whose operations are not released.
using LaneRow = std::array<uint32_t, 32>;
inline void join(LaneRow* row, const LaneRow& other) {
  for (size_t l = 0; l < row->size(); ++l) (*row)[l] = std::max((*row)[l], other[l]);
}

/// The released times of the lanes of warps of one cluster, by key_of() of the warp.
using LaneTimes = std::map<uint64_t, LaneRow>;
inline void join(LaneTimes* all, const LaneTimes& other) {
  for (const auto& [key, row] : other) join(&(*all)[key], row);
}
/// Returns whether all times of `part` are included in `all`.
inline bool includes(const LaneTimes& all, const LaneTimes& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& entry) {
    const auto found = all.find(entry.first);
    if (found == all.end()) return false;
    LaneRow both = found->second;
    join(&both, entry.second);
    return both == found->second;
  });
}

/// Times that several releases share; null if there are no times.
using SharedLaneTimes = std::shared_ptr<const LaneTimes>;
/// Returns the join of two sets of times.
inline SharedLaneTimes joined(const SharedLaneTimes& a, const SharedLaneTimes& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr || includes(*a, *b)) return a;
  if (includes(*b, *a)) return b;
  auto both = std::make_shared<LaneTimes>(*a);
  join(both.get(), *b);
  return both;
}

}  // namespace kernkit::simulator::ptx
