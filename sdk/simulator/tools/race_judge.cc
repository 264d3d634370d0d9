// SPDX-License-Identifier: Apache-2.0
#include "tools/race_judge.h"

#include "ptx/machine/cluster.h"
#include "tools/async_operations.h"
#include "tools/happens_before.h"

namespace kernkit::simulator::ptx {

uint64_t RaceJudge::cluster_of(uint64_t block) const {
  const dim3 grid = block_.launch.grid, cluster = block_.launch.cluster;
  const uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  return x / cluster.x + uint64_t{grid.x / cluster.x} *
                             (y / cluster.y + uint64_t{grid.y / cluster.y} * (z / cluster.z));
}

// Returns whether the threads of two accesses are in one cluster, which scope cluster requires (PTX
// ISA 8.5).
bool RaceJudge::are_of_one_cluster(const AccessRecord& a, const AccessRecord& b) const {
  return a.block == b.block || cluster_of(a.block) == cluster_of(b.block);
}

// Returns whether the scope of a strong access includes the thread of another access.
bool RaceJudge::includes(const AccessRecord& access, const AccessRecord& other) const {
  if (access.launch == other.launch) {
    if (access.scope == ThreadScope::kCluster) return are_of_one_cluster(access, other);
    return access.scope >= ThreadScope::kDevice ||
           (access.is_strong() && access.block == other.block);
  }
  const bool same_device =
      cells_.launch(access.launch).device == cells_.launch(other.launch).device;
  return access.scope >= (same_device ? ThreadScope::kDevice : ThreadScope::kSystem);
}

RaceVerdict RaceJudge::judge(const Access& before_access, const Access& now_access,
                             bool is_shared) const {
  const AccessRecord &before = before_access.record, &now = now_access.record;
  if (before.is_async() && before.launch == now.launch) return judge_async(before, now);
  if (!now.is_async()) return judge_order(before_access, now_access);
  const bool both_update = before.kind == AccessKind::kAtomic && now.kind == AccessKind::kAtomic;
  if (both_update) return {RaceVerdict::kSilent};
  const RaceVerdict order = judge_order(before_access, now_access);
  if (order.kind != RaceVerdict::kOrdered || before.launch != now.launch ||
      !now.is_by_async_proxy()) {
    return order;
  }
  if (order_.is_fenced(now.warp, is_shared, before.block, before.warp, before.time)) return {};
  const bool is_warn = before.kind == AccessKind::kLoad ||
                       order_.is_before_barrier(now.warp, before.block, before.warp, before.time);
  return {is_warn ? RaceVerdict::kWarn : RaceVerdict::kError, RaceReason::kProxies};
}

// Returns the verdict on an access `before` by an asynchronous operation and a later access of the
// same launch. A wait for the completion of `before` between the accesses orders them, whatever
// their proxies.
RaceVerdict RaceJudge::judge_async(const AccessRecord& before, const AccessRecord& now) const {
  if (has_completed(now.warp, before)) return {};
  if (before.kind == AccessKind::kAtomic && now.kind == AccessKind::kAtomic) {
    return {RaceVerdict::kSilent};
  }
  const uint64_t key = launches_.completion(before.time).key;
  const bool is_product = CompletionKey::kind(key) == CompletionKey::kProducts;
  return {RaceVerdict::kError, is_product ? RaceReason::kProducts : RaceReason::kCopy};
}

RaceVerdict RaceJudge::judge_order(const Access& before_access, const Access& now_access) const {
  const AccessRecord &before = before_access.record, &now = now_access.record;
  const bool strong = are_morally_strong(before, now);
  if (strong && before.kind == AccessKind::kAtomic && now.kind == AccessKind::kAtomic) {
    return {RaceVerdict::kSilent};
  }
  if (before.launch != now.launch) return judge_launches(before, now, strong);
  if (before.block == now.block && before.warp == now.warp) {
    return judge_lanes(before_access, now_access, strong);
  }
  if (order_.has_acquired(now.warp, before.block, before.warp, before.time)) return {};
  const bool lenient =
      order_.has_acquired_leniently(now.warp, before.block, before.warp, before.time);
  const RaceReason reason = reason_of(before, now);
  if (strong) {
    const bool is_info =
        !lenient || order_.has_acquired_by_cas(now.warp, before.block, before.warp, before.time);
    return {is_info ? RaceVerdict::kInfo : RaceVerdict::kSilent,
            lenient ? RaceReason::kAcquire : reason};
  }
  if (lenient) {
    const bool by_barrier =
        order_.has_acquired_by_barrier(now.warp, before.block, before.warp, before.time);
    return {RaceVerdict::kWarn, by_barrier ? RaceReason::kPublisher : RaceReason::kAcquire};
  }
  return {RaceVerdict::kError, reason};
}

RaceVerdict RaceJudge::judge_launches(const AccessRecord& before, const AccessRecord& now,
                                      bool strong) const {
  const WorkId& work = cells_.launch(before.launch).work;
  const bool overlaps = may_overlap_ && cells_.launch(launch_).may_run_with(work);
  if (overlaps ? order_.is_after_earlier_work(now.warp) : is_before(work)) return {};
  const RaceReason reason = overlaps ? RaceReason::kDependent : RaceReason::kLaunches;
  return {strong ? RaceVerdict::kInfo : RaceVerdict::kError, reason};
}

RaceVerdict RaceJudge::judge_lanes(const Access& before_access, const Access& now_access,
                                   bool strong) const {
  const AccessRecord &before = before_access.record, &now = now_access.record;
  if (before.time == AccessRecord::kPending) return {RaceVerdict::kError, RaceReason::kCopy};
  const uint32_t time = now.is_async() ? order_.time(before.warp) : now.time;
  if (!checks_lanes_ || before.time == time ||
      order_.lane_has_acquired(before.warp, now_access.lane, before_access.lane, before.time)) {
    return {};
  }
  return {strong ? RaceVerdict::kInfo : RaceVerdict::kWarn, RaceReason::kLanes};
}

RaceReason RaceJudge::reason_of(const AccessRecord& before, const AccessRecord& now) const {
  if (before.time == AccessRecord::kPending) return RaceReason::kCopy;
  if (before.is_strong() && now.is_strong()) {
    const AccessRecord* narrow = !includes(before, now)   ? &before
                                 : !includes(now, before) ? &now
                                                          : nullptr;
    if (narrow != nullptr) {
      return narrow->scope == ThreadScope::kCluster ? RaceReason::kClusterScope
                                                    : RaceReason::kScope;
    }
    if (before.element_bytes != now.element_bytes) return RaceReason::kMixed;
  }
  const LaunchOrder::FenceTimes fences = launches_.fences_of(before.block, before.warp);
  if (fences.of_block < before.time &&
      order_.is_before_relaxed_arrival(now.warp, before.block, before.warp, before.time)) {
    return RaceReason::kRelaxed;
  }
  if (before.block == now.block) return RaceReason::kBarrier;
  if (fences.of_device >= before.time || fences.of_block < before.time) {
    return RaceReason::kBlocks;
  }
  if (block_.cluster->size() == 1 || fences.of_cluster < before.time) {
    return RaceReason::kFenceScope;
  }
  return are_of_one_cluster(before, now) ? RaceReason::kBlocks : RaceReason::kClusterFenceScope;
}

}  // namespace kernkit::simulator::ptx
