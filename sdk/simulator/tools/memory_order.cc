// SPDX-License-Identifier: Apache-2.0
#include "tools/memory_order.h"

#include <algorithm>
#include <utility>

namespace kernkit::simulator::ptx {

void BlockOrder::start(uint64_t block, uint64_t cluster, size_t warps, bool lanes) {
  block_ = block;
  cluster_ = cluster;
  for (size_t w = 0; w < warps; ++w) {
    strict_[w] = {};
    strict_[w].block = block;
    strict_[w].times[w] = 1;
    fences_[w] = pending_[w] = {};
    fenced_[w] = {};
    inits_[w] = {};
    at_barrier_[w] = nullptr;
    acquired_lanes_[w] = nullptr;
    relaxed_[w] = nullptr;
    own_releases_[w].clear();
  }
  opened_ = {};
  is_lenient_ = false;
  barriers_.clear();
  local_.clear();
  lanes_.assign(lanes ? kMostWarps : 0, Lanes{});
  arrived_ = {};
}

void BlockOrder::begin_lenient() {
  if (is_lenient_) return;
  is_lenient_ = true;
  lenient_ = strict_;
  by_cas_.assign(kMostWarps, {});
  for (Clock& clock : by_cas_) clock.block = block_;
  by_barrier_ = by_cas_;
  for (auto& [number, barrier] : barriers_) barrier.lenient = barrier.strict;
}

void BlockOrder::synchronise(unsigned warp, uint32_t lanes) {
  if (lanes_.empty()) return;
  tick(warp);
  Lanes& until = lanes_[warp];
  LaneRow all = {};
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) != 0) join(&all, until[l]);
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) != 0) all[l] = time(warp);
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) != 0) until[l] = all;
  }
}

// Records an arrival at a barrier of the block. PTX ISA, section 8.9.4, item 2: the barrier
// operations synchronise. A fence before the barrier begins no release pattern with another
// thread's write after the barrier (8.8); Released::by_barrier contains the releases of such
// fences.
void BlockOrder::arrive(unsigned warp, uint32_t barrier, bool only) {
  Barrier& arrivals = barriers_[barrier];
  arrivals.strict.block = arrivals.lenient.block = block_;
  arrivals.strict.join(strict_[warp]);
  if (is_lenient_) arrivals.lenient.join(lenient_[warp]);
  arrivals.fences.add(fences_[warp]);
  arrivals.fenced.add(fenced_[warp]);
  if (acquired_lanes_[warp] != nullptr) join(&arrivals.lanes, *acquired_lanes_[warp]);
  arrived_[warp] = time(warp);
  if (only) {
    tick(warp);
  } else {
    arrivals.waiting |= 1u << warp;
  }
}

void BlockOrder::open(uint32_t barrier) {
  const Barrier arrivals = std::move(barriers_[barrier]);
  barriers_.erase(barrier);
  const SharedClock all =
      notes_barriers_ ? std::make_shared<const Clock>(arrivals.strict) : nullptr;
  const SharedLaneTimes lanes =
      arrivals.lanes.empty() ? nullptr : std::make_shared<const LaneTimes>(arrivals.lanes);
  for (uint32_t remaining = arrivals.waiting; remaining != 0; remaining &= remaining - 1) {
    const auto warp = static_cast<unsigned>(__builtin_ctz(remaining));
    strict_[warp].join(arrivals.strict);
    if (is_lenient_) lenient_[warp].join(arrivals.lenient);
    const auto add = [](Released* to, const Released& from) {
      to->by_barrier = joined(to->by_barrier, joined(from.strict, from.by_barrier));
    };
    add(&fences_[warp].narrow, arrivals.fences.narrow);
    add(&fences_[warp].cluster, arrivals.fences.cluster);
    add(&fences_[warp].wide, arrivals.fences.wide);
    fenced_[warp].add(arrivals.fenced);
    acquired_lanes_[warp] = joined(acquired_lanes_[warp], lanes);
    at_barrier_[warp] = all;
    tick(warp);
    synchronise(warp, UINT32_MAX);
  }
}

// Records an arrival at the barrier of the cluster. PTX ISA, section 8.9.4, item 3: an arrival with
// release synchronises with the waits of its phase. An arrival with .relaxed releases only what
// earlier fences of the thread released, see "barrier.cluster".
void BlockOrder::arrive_at_cluster(unsigned warp, bool releases) {
  LaunchOrder::ClusterArrivals& arrivals = all_.cluster(cluster_);
  if (releases) {
    arrivals.released.add(now(warp, UINT32_MAX));
  } else {
    arrivals.released.add(fences_[warp].cluster);
    arrivals.released.add(inits_[warp]);
    arrivals.relaxed = joined(arrivals.relaxed, std::make_shared<const Clock>(strict_[warp]));
  }
  tick(warp);  // later accesses do not happen before the waits of this phase
}

void BlockOrder::leave_cluster_barrier(unsigned warp) {
  acquire(warp, opened_.released);
  relaxed_[warp] = opened_.relaxed;
  at_barrier_[warp] = notes_barriers_ ? opened_.released.strict : nullptr;
  tick(warp);
  synchronise(warp, UINT32_MAX);
}

Released BlockOrder::now(unsigned warp, uint32_t lanes) const {
  Released all;
  all.strict = std::make_shared<Clock>(strict_[warp]);
  all.lenient = is_lenient_ ? std::make_shared<Clock>(lenient_[warp]) : all.strict;
  all.fenced = fenced_[warp];
  all.lanes = lane_times(warp, lanes);
  return all;
}

SharedLaneTimes BlockOrder::lane_times(unsigned warp, uint32_t lanes) const {
  const SharedLaneTimes& acquired = acquired_lanes_[warp];
  if (lanes_.empty() || lanes == 0) return acquired;
  auto all =
      acquired != nullptr ? std::make_shared<LaneTimes>(*acquired) : std::make_shared<LaneTimes>();
  LaneRow row = {};
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) != 0) join(&row, lanes_[warp][l]);
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) != 0) row[l] = time(warp) + 1;
  }
  (*all)[key_of(block_, warp)] = row;
  return all;
}

void BlockOrder::note_fence(unsigned warp, ThreadScope scope) {
  LaunchOrder::FenceTimes& times = all_.fences_[key_of(block_, warp)];
  times.of_block = time(warp);
  if (scope >= ThreadScope::kCluster) times.of_cluster = time(warp);
  if (scope >= ThreadScope::kDevice) times.of_device = time(warp);
}

void BlockOrder::acquire(unsigned warp, const Released& released) {
  if (released.strict != nullptr) strict_[warp].join(*released.strict);
  if (is_lenient_ && released.lenient != nullptr) lenient_[warp].join(*released.lenient);
  acquire_by_barrier(warp, released);
  fenced_[warp].add(released.fenced);
  acquired_lanes_[warp] = joined(acquired_lanes_[warp], released.lanes);
}

void BlockOrder::acquire_lanes(unsigned warp, uint32_t lanes, const Fences& found,
                               const OrderTraits& traits) {
  if (lanes_.empty() || !traits.acquires) return;
  const uint32_t arrived = arrived_[warp];
  LaneRow acquired = {};
  for (const Released* released : {&found.narrow, &found.cluster, &found.wide}) {
    if (released->strict == nullptr) continue;
    if (arrived != 0 && released->strict->has(block_, warp, arrived)) {
      for (uint32_t& until : acquired) until = std::max(until, arrived + 1);
    }
    if (released->lanes == nullptr) continue;
    const auto row = released->lanes->find(key_of(block_, warp));
    if (row != released->lanes->end()) join(&acquired, row->second);
  }
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) != 0) join(&lanes_[warp][l], acquired);
  }
}

void BlockOrder::acquire_by_barrier(unsigned warp, const Released& released) {
  if (released.by_barrier == nullptr) return;
  begin_lenient();
  lenient_[warp].join(*released.by_barrier);
  by_barrier_[warp].join(*released.by_barrier);
}

void BlockOrder::fence_proxies(unsigned warp, uint8_t spaces) {
  const auto clock = std::make_shared<const Clock>(strict_[warp]);
  if ((spaces & kFencesGlobal) != 0) fenced_[warp].global = joined(fenced_[warp].global, clock);
  if ((spaces & kFencesShared) != 0) fenced_[warp].shared = joined(fenced_[warp].shared, clock);
  tick(warp);
}

void BlockOrder::release_maps(unsigned warp) {
  fenced_[warp].maps = joined(fenced_[warp].maps, std::make_shared<const Clock>(strict_[warp]));
  tick(warp);
}

void BlockOrder::complete(unsigned warp, uint64_t key, uint32_t time) {
  for (Clock* clock : {&strict_[warp], is_lenient_ ? &lenient_[warp] : nullptr}) {
    if (clock == nullptr) continue;
    uint32_t& entry = clock->remote[key];
    entry = std::max(entry, time);
  }
}

void BlockOrder::fence(unsigned warp, const OrderTraits& traits) {
  const bool is_wide = traits.fence_scope >= ThreadScope::kDevice;
  const bool is_of_cluster = traits.fence_scope >= ThreadScope::kCluster;
  if (traits.acquires) {
    Fences& pending = pending_[warp];
    acquire(warp, std::exchange(pending.narrow, {}));
    if (is_of_cluster) acquire(warp, std::exchange(pending.cluster, {}));
    if (is_wide) acquire(warp, std::exchange(pending.wide, {}));
  }
  if (!traits.releases) return;
  fences_[warp].narrow = now(warp);
  if (is_of_cluster) fences_[warp].cluster = fences_[warp].narrow;
  if (is_wide) {
    fences_[warp].wide = fences_[warp].narrow;
    fences_[warp].wide.lanes = nullptr;
  }
  note_fence(warp, traits.fence_scope);
  tick(warp);
}

void BlockOrder::read(unsigned warp, uint64_t key, const OrderTraits& traits) {
  if (!traits.is_reduction) acquire(warp, released_at(key), traits);
}

BlockOrder::Fences BlockOrder::released_at(uint64_t key) const {
  Fences found;
  const auto local = local_.find(key);
  const auto wide = (key & kOfShared) == 0 ? all_.locations_.find(key) : all_.locations_.end();
  const bool has_wide = wide != all_.locations_.end();
  if (local != local_.end() &&
      ((key & kOfShared) != 0 || (has_wide && wide->second.version == local->second.version))) {
    found.narrow = local->second.released;
  }
  if (!has_wide) return found;
  found.wide = wide->second.released;
  const auto of_cluster = wide->second.of_clusters.find(cluster_);
  if (of_cluster != wide->second.of_clusters.end()) found.cluster = of_cluster->second;
  return found;
}

void BlockOrder::acquire(unsigned warp, const Fences& found, const OrderTraits& traits) {
  static const Released kNothing;
  const Released& of_cluster = traits.scope >= ThreadScope::kCluster ? found.cluster : kNothing;
  const Released& wide = traits.scope >= ThreadScope::kDevice ? found.wide : kNothing;
  if (found.narrow.is_empty() && of_cluster.is_empty() && wide.is_empty()) return;
  if (traits.acquires) {
    for (const Released* released : {&found.narrow, &of_cluster, &wide}) acquire(warp, *released);
    return;
  }
  begin_lenient();
  for (const Released* released : {&found.narrow, &of_cluster, &wide}) {
    acquire_by_barrier(warp, *released);
    if (released->lenient == nullptr) continue;
    lenient_[warp].join(*released->lenient);
    if (traits.is_cas) by_cas_[warp].join(*released->lenient);
  }
  pending_[warp].narrow.add(found.narrow);
  pending_[warp].cluster.add(of_cluster);
  pending_[warp].wide.add(wide);
}

void BlockOrder::write(unsigned warp, unsigned lane, uint64_t key, const OrderTraits& traits,
                       bool continues) {
  const bool is_shared = (key & kOfShared) != 0;
  Fences added = fences_[warp];
  if (traits.releases) {
    added.narrow = now(warp, 1u << lane);
    if (traits.scope >= ThreadScope::kCluster) added.cluster = added.narrow;
    if (traits.scope >= ThreadScope::kDevice) {
      added.wide = added.narrow;
      added.wide.lanes = nullptr;
    }
    own_releases_[warp][key] = added;
    note_fence(warp, traits.scope);
    tick(warp);
  } else if (const auto own = own_releases_[warp].find(key); own != own_releases_[warp].end()) {
    added.add(own->second);
  }
  if (added.narrow.is_empty() && !any_released()) return;
  uint64_t version = 0;
  if (!is_shared) {
    auto location = all_.locations_.find(key);
    if (location == all_.locations_.end()) {
      if (added.narrow.is_empty()) return;
      location = all_.locations_.emplace(key, LaunchOrder::Location{}).first;
    }
    if (!continues) {
      ++location->second.version;
      location->second.released = {};
      location->second.of_clusters.clear();
    }
    location->second.released.add(added.wide);
    // PTX ISA, sections 8.5 and 8.7: operations of threads in different clusters are not morally
    // strong if one of the operations has scope cluster.
    if (all_.has_clusters() && !added.cluster.is_empty()) {
      location->second.of_clusters[cluster_].add(added.cluster);
    }
    version = location->second.version;
  }
  if (added.narrow.is_empty()) {
    if (!continues) local_.erase(key);
    return;
  }
  Local& local = local_[key];
  if (!continues || local.version != version) local = {{}, version};
  local.released.add(added.narrow);
}

}  // namespace kernkit::simulator::ptx
