// SPDX-License-Identifier: Apache-2.0
// Vector clocks of the warps of a block, and optionally of the lanes of a warp. An operation of one
// warp happened before the operations of another warp that has acquired its time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct VectorClock {
  uint32_t times[kMostWarps] = {};  // time of each warp

  void join(const VectorClock& other) {
    for (unsigned w = 0; w < kMostWarps; ++w) times[w] = std::max(times[w], other.times[w]);
  }
};

class VectorClocks {
 public:
  VectorClocks() {
    for (unsigned w = 0; w < kMostWarps; ++w) clocks_[w].times[w] = 1;
  }
  uint32_t time(unsigned warp) const { return clocks_[warp].times[warp]; }
  /// Returns whether operations of warp `other` at `time` happened before the current ones of
  /// `warp`.
  bool has_acquired(unsigned warp, unsigned other, uint32_t time) const {
    return clocks_[warp].times[other] >= time;
  }
  /// Tracks lanes from now on: only __syncwarp() and barriers order the lanes of a warp.
  void track_lanes() { lanes_.resize(kMostWarps); }
  /// Returns whether operations of lane `other` at `time` happened before the current ones of
  /// `lane`.
  bool lane_has_acquired(unsigned warp, unsigned lane, unsigned other, uint32_t time) const {
    return lanes_.empty() || lane == other || lanes_[warp].until[lane][other] > time;
  }
  void synchronise(unsigned warp, uint32_t lanes) {
    if (lanes_.empty()) return;
    const uint32_t now = ++clocks_[warp].times[warp];
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
  const VectorClock& clock(unsigned warp) const { return clocks_[warp]; }
  /// Starts a new time of the warp, later than the time that other warps have acquired.
  void tick(unsigned warp) { ++clocks_[warp].times[warp]; }
  /// With `only`, the warp does not wait and acquires nothing.
  void arrive(unsigned warp, uint32_t barrier, bool only) {
    Barrier& arrivals = barriers_[barrier];
    arrivals.released.join(clocks_[warp]);
    if (only) {
      ++clocks_[warp].times[warp];
    } else {
      arrivals.waiting |= 1u << warp;
    }
  }
  void open(uint32_t barrier) {
    const Barrier arrivals = barriers_[barrier];
    barriers_.erase(barrier);
    for (uint32_t remaining = arrivals.waiting; remaining != 0; remaining &= remaining - 1) {
      const auto warp = static_cast<unsigned>(__builtin_ctz(remaining));
      clocks_[warp].join(arrivals.released);
      ++clocks_[warp].times[warp];
      synchronise(warp, UINT32_MAX);
    }
  }
  /// An atomic acquires from earlier atomics at the same address, and releases the warp's clock.
  void acquire(unsigned warp, uint64_t address) { clocks_[warp].join(addresses_[address]); }
  void release(unsigned warp, uint64_t address) {
    addresses_[address].join(clocks_[warp]);
    ++clocks_[warp].times[warp];
  }

 private:
  struct Barrier {
    VectorClock released;
    uint32_t waiting = 0;
  };
  struct LanesOfWarp {
    std::array<std::array<uint32_t, 32>, 32> until =
        {};  // first time of another lane that a lane has not acquired
  };
  VectorClock clocks_[kMostWarps];
  std::vector<LanesOfWarp> lanes_;
  std::map<uint32_t, Barrier> barriers_;
  std::map<uint64_t, VectorClock> addresses_;
};

}  // namespace kernkit::simulator::ptx
