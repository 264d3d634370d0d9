// SPDX-License-Identifier: Apache-2.0
// Clocks: what each warp of a block knows of the others. What a warp did is ordered before what
// another does that has heard of it since. And, where that is asked for, what lanes know of lanes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Clock {
  uint32_t of[kMostWarps] = {};  // each warp's time

  void hear(const Clock& other) {
    for (unsigned w = 0; w < kMostWarps; ++w) of[w] = std::max(of[w], other.of[w]);
  }
};

class Clocks {
 public:
  Clocks() {
    for (unsigned w = 0; w < kMostWarps; ++w) clocks_[w].of[w] = 1;
  }
  uint32_t time(unsigned warp) const { return clocks_[warp].of[warp]; }
  /// Whether `warp` has heard of what `other` did at that time.
  bool knows(unsigned warp, unsigned other, uint32_t time) const {
    return clocks_[warp].of[other] >= time;
  }
  /// From here on lanes of a warp are apart, until __syncwarp() or a barrier.
  void watch_lanes() { lanes_.resize(kMostWarps); }
  /// Whether a lane has heard of what `other` of its warp did at that time.
  bool lane_knows(unsigned warp, unsigned lane, unsigned other, uint32_t time) const {
    return lanes_.empty() || lane == other || lanes_[warp].until[lane][other] > time;
  }
  void meet(unsigned warp, uint32_t lanes) {
    if (lanes_.empty()) return;
    const uint32_t now = ++clocks_[warp].of[warp];
    auto& until = lanes_[warp].until;
    std::array<uint32_t, 32> all = {};
    for (unsigned l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) == 0) continue;
      for (unsigned m = 0; m < 32; ++m) all[m] = std::max(all[m], until[l][m]);
    }
    for (unsigned l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) != 0) all[l] = now;
    }
    for (unsigned l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) != 0) until[l] = all;
    }
  }
  const Clock& clock(unsigned warp) const { return clocks_[warp]; }
  /// What the warp does from here on, nobody knows who heard of it before.
  void tick(unsigned warp) { ++clocks_[warp].of[warp]; }
  /// `only`: it does not wait, and hears nothing.
  void arrive(unsigned warp, uint32_t barrier, bool only) {
    Barrier& one = barriers_[barrier];
    one.said.hear(clocks_[warp]);
    if (only) {
      ++clocks_[warp].of[warp];
    } else {
      one.waiting |= 1u << warp;
    }
  }
  void open(uint32_t barrier) {
    const Barrier one = barriers_[barrier];
    barriers_.erase(barrier);
    for (uint32_t left = one.waiting; left != 0; left &= left - 1) {
      const auto warp = static_cast<unsigned>(__builtin_ctz(left));
      clocks_[warp].hear(one.said);
      ++clocks_[warp].of[warp];
      meet(warp, UINT32_MAX);
    }
  }
  /// By an atomic there the warp hears of those who had one there before, and says what it knows.
  void hear(unsigned warp, uint64_t place) { clocks_[warp].hear(places_[place]); }
  void say(unsigned warp, uint64_t place) {
    places_[place].hear(clocks_[warp]);
    ++clocks_[warp].of[warp];
  }

 private:
  struct Barrier {
    Clock said;
    uint32_t waiting = 0;
  };
  struct LanesOfWarp {
    std::array<std::array<uint32_t, 32>, 32> until = {};  // when a lane heard of another
  };
  Clock clocks_[kMostWarps];
  std::vector<LanesOfWarp> lanes_;
  std::map<uint32_t, Barrier> barriers_;
  std::map<uint64_t, Clock> places_;
};

}  // namespace kernkit::simulator::ptx
