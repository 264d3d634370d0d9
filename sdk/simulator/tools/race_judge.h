// SPDX-License-Identifier: Apache-2.0
// RaceJudge: the verdict on two conflicting accesses, by the order of the PTX memory model. The
// later of the two is an access of a block that runs now. docs/racecheck.md has the rules.
#pragma once

#include <cstdint>

#include "ptx/machine/block.h"
#include "tools/global_cells.h"
#include "tools/memory_order.h"
#include "tools/race_verdict.h"

namespace kernkit::simulator::ptx {

class RaceJudge {
 public:
  /// A record and the lane of its warp.
  struct Access {
    const AccessRecord& record;
    unsigned lane;
  };
  /// `order` is the order of the block's warps, `launches` the order of the launch `launch`.
  /// `may_overlap`: whether the previous kernel in the stream may still run. `checks_lanes`:
  /// whether races between lanes of a warp are reported.
  RaceJudge(const Block& block, const BlockOrder& order, const LaunchOrder& launches,
            const GlobalCells& cells, uint32_t launch, bool may_overlap, bool checks_lanes)
      : block_(block),
        order_(order),
        launches_(launches),
        cells_(cells),
        launch_(launch),
        may_overlap_(may_overlap),
        checks_lanes_(checks_lanes) {}

  /// Returns the verdict on the accesses `before` and `now` to shared or global memory. Accesses by
  /// two proxies need both an order and a fence between them.
  RaceVerdict judge(const Access& before, const Access& now, bool is_shared) const;
  /// Like judge(), but without the fence between proxies.
  RaceVerdict judge_order(const Access& before, const Access& now) const;
  /// Returns the verdict on accesses of two launches. `strong`: whether the accesses are morally
  /// strong.
  RaceVerdict judge_launches(const AccessRecord& before, const AccessRecord& now,
                             bool strong) const;

  bool are_morally_strong(const AccessRecord& before, const AccessRecord& now) const {
    return before.is_strong() && now.is_strong() && before.element_bytes == now.element_bytes &&
           includes(before, now) && includes(now, before);
  }
  /// Returns whether a warp has waited for the completion of an asynchronous access.
  bool has_completed(unsigned warp, const AccessRecord& record) const {
    const LaunchOrder::Completion& completion = launches_.completion(record.time);
    return completion.time != LaunchOrder::Completion::kPending &&
           order_.has_completed(warp, completion.key, completion.time);
  }
  /// Returns the number of the cluster of a block.
  uint64_t cluster_of(uint64_t block) const;

 private:
  RaceVerdict judge_async(const AccessRecord& before, const AccessRecord& now) const;
  RaceVerdict judge_lanes(const Access& before, const Access& now, bool strong) const;
  RaceReason reason_of(const AccessRecord& before, const AccessRecord& now) const;
  bool includes(const AccessRecord& access, const AccessRecord& other) const;
  bool are_of_one_cluster(const AccessRecord& a, const AccessRecord& b) const;

  const Block& block_;
  const BlockOrder& order_;
  const LaunchOrder& launches_;
  const GlobalCells& cells_;
  const uint32_t launch_;
  const bool may_overlap_, checks_lanes_;
};

}  // namespace kernkit::simulator::ptx
