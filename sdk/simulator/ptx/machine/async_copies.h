// SPDX-License-Identifier: Apache-2.0
// AsyncCopies: what the lanes of a warp copy by cp.async. It lands when the lane waits for it, so
// that what is read before shows what was there before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kernkit::simulator::ptx {

class AsyncCopies {
 public:
  static constexpr uint32_t kMostBytes = 16;

  /// Adds a copy of `bytes` bytes: the first `some` come from `from`, the following bytes are zero.
  void add(int lane, unsigned char* to, const unsigned char* from, uint32_t bytes, uint32_t some) {
    Copy copy{to, groups_[lane], static_cast<uint8_t>(lane), static_cast<uint8_t>(bytes), {}};
    if (some != 0) std::memcpy(copy.value, from, some);
    copies_.push_back(copy);
  }
  /// Those that are in no group yet become one.
  void commit(uint32_t lanes) {
    for (int lane = 0; lane < 32; ++lane) groups_[lane] += lanes >> lane & 1;
  }
  /// All but the last `pending` groups of each lane land.
  void wait(uint32_t lanes, uint64_t pending) {
    const auto lands = [&](const Copy& copy) {
      if ((lanes >> copy.lane & 1) == 0 || copy.group + pending >= groups_[copy.lane]) return false;
      std::memcpy(copy.to, copy.value, copy.bytes);
      return true;
    };
    copies_.erase(std::remove_if(copies_.begin(), copies_.end(), lands), copies_.end());
  }
  void clear() { copies_.clear(); }

 private:
  struct Copy {
    unsigned char* to;
    uint32_t group;
    uint8_t lane, bytes;
    unsigned char value[kMostBytes];
  };
  std::vector<Copy> copies_;
  uint32_t groups_[32] = {};  // of each lane the number of the group that is open
};

}  // namespace kernkit::simulator::ptx
