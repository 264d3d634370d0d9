// SPDX-License-Identifier: Apache-2.0
// AsyncCopies: pending cp.async copies of the lanes of a warp. The bytes of a copy are stored when
// the lane waits for the copy, or when a cp.async.mbarrier.arrive for the copy completes. An
// earlier read returns the old bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kernkit::simulator::ptx {

class AsyncCopies {
 public:
  static constexpr uint32_t kMostBytes = 16;

  /// Adds a copy of `bytes` bytes to the lane's open group. The first `some` bytes come from
  /// `from`, the following bytes are zero.
  void add(int lane, unsigned char* to, const unsigned char* from, uint32_t bytes, uint32_t some) {
    Copy copy{
        to, groups_[lane], added_[lane]++, static_cast<uint8_t>(lane), static_cast<uint8_t>(bytes),
        {}};
    if (some != 0) std::memcpy(copy.value, from, some);
    copies_.push_back(copy);
  }
  /// Closes the open group of each lane in `lanes`.
  void commit(uint32_t lanes) {
    for (int lane = 0; lane < 32; ++lane) groups_[lane] += lanes >> lane & 1;
  }
  /// Completes all but the last `pending` groups of each lane in `lanes`.
  void wait(uint32_t lanes, uint64_t pending) {
    complete([&](const Copy& copy) {
      return (lanes >> copy.lane & 1) != 0 && copy.group + pending < groups_[copy.lane];
    });
  }
  /// Returns how many copies add() has added for a lane.
  uint32_t added(int lane) const { return added_[lane]; }
  /// Completes the first `count` copies that add() has added for a lane.
  void complete_first(int lane, uint32_t count) {
    complete([&](const Copy& copy) { return copy.lane == lane && copy.number < count; });
  }
  void clear() { copies_.clear(); }

 private:
  struct Copy {
    unsigned char* to;
    uint32_t group, number;
    uint8_t lane, bytes;
    unsigned char value[kMostBytes];
  };
  template <class Lands>
  void complete(const Lands& lands) {
    const auto completes = [&](const Copy& copy) {
      if (!lands(copy)) return false;
      std::memcpy(copy.to, copy.value, copy.bytes);
      return true;
    };
    copies_.erase(std::remove_if(copies_.begin(), copies_.end(), completes), copies_.end());
  }
  std::vector<Copy> copies_;
  uint32_t groups_[32] = {};  // number of each lane's open group
  uint32_t added_[32] = {};   // number of calls of add() for each lane
};

}  // namespace kernkit::simulator::ptx
