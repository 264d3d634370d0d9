// SPDX-License-Identifier: Apache-2.0
// PendingCopies: the records of a warp's cp.async copies until the warp waits for their group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// The pending cp.async copies of one warp. Copies form groups, as in AsyncCopies.
class PendingCopies {
 public:
  /// Adds the copies of the access record number `record` to the open group of each lane in
  /// `lanes`.
  void add(uint32_t lanes, uint32_t record, bool is_global) {
    uint32_t group = 0;
    for (int l = 0; l < 32; ++l) {
      if ((lanes >> l & 1) != 0) group = std::max(group, groups_[l]);
    }
    copies_.push_back({lanes, group, record, is_global});
  }
  /// Closes the open group of each lane in `lanes`.
  void commit(uint32_t lanes) {
    for (int l = 0; l < 32; ++l) groups_[l] += lanes >> l & 1;
  }
  /// Completes the copies of `lanes`, except in the last `pending` groups. Calls `lands(record,
  /// is_global)` for each record whose copies are then complete in all lanes.
  template <class Lands>
  void wait(uint32_t lanes, uint64_t pending, const Lands& lands) {
    const auto is_complete = [&](Copy& copy) {
      for (int l = 0; l < 32; ++l) {
        if ((copy.lanes & lanes & kLane[l]) != 0 && copy.group + pending < groups_[l]) {
          copy.lanes &= ~kLane[l];
        }
      }
      if (copy.lanes == 0) lands(copy.record, copy.is_global);
      return copy.lanes == 0;
    };
    copies_.erase(std::remove_if(copies_.begin(), copies_.end(), is_complete), copies_.end());
  }

 private:
  struct Copy {
    uint32_t lanes, group, record;
    bool is_global;
  };
  std::vector<Copy> copies_;
  uint32_t groups_[32] = {};
};

}  // namespace kernkit::simulator::ptx
