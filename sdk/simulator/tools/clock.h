// SPDX-License-Identifier: Apache-2.0
// Clock: a vector clock over the warps of a launch, held by a warp of one block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// Returns the key of a warp in RemoteClock.
inline uint64_t key_of(uint64_t block, unsigned warp) { return block << 5 | warp; }
/// The key in RemoteClock for the end of earlier work, which a programmatic dependent launch may
/// overlap.
inline constexpr uint64_t kEarlierWork = UINT64_MAX;

/// Times of warps of other blocks, by key_of().
using RemoteClock = std::map<uint64_t, uint32_t>;

struct Clock {
  uint64_t block = 0;
  uint32_t times[kMostWarps] = {};  // times of the block's own warps; 0 if nothing is acquired
  RemoteClock remote;

  /// Joins this clock with another clock, which may belong to a warp of another block.
  void join(const Clock& other) {
    if (other.block == block) {
      for (unsigned w = 0; w < kMostWarps; ++w) times[w] = std::max(times[w], other.times[w]);
    } else {
      for (unsigned w = 0; w < kMostWarps; ++w) {
        if (other.times[w] != 0) add(key_of(other.block, w), other.times[w]);
      }
    }
    for (const auto& [key, time] : other.remote) add(key, time);
  }
  /// Returns whether the clock has acquired the operations of a warp up to `time`.
  bool has(uint64_t other_block, unsigned warp, uint32_t time) const {
    if (other_block == block) return times[warp] >= time;
    const auto entry = remote.find(key_of(other_block, warp));
    return entry != remote.end() && entry->second >= time;
  }

 private:
  void add(uint64_t key, uint32_t time) {
    if (key != kEarlierWork && key >> 5 == block) {
      times[key & 31] = std::max(times[key & 31], time);
    } else {
      uint32_t& entry = remote[key];
      entry = std::max(entry, time);
    }
  }
};

/// A clock that several releases share; null for an empty clock.
using SharedClock = std::shared_ptr<const Clock>;
/// Returns the join of two clocks.
inline SharedClock joined(const SharedClock& a, const SharedClock& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto both = std::make_shared<Clock>(*a);
  both->join(*b);
  return both;
}

}  // namespace kernkit::simulator::ptx
