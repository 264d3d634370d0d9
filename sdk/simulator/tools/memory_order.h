// SPDX-License-Identifier: Apache-2.0
// LaunchOrder and BlockOrder: the causality order of the warps of a launch, by the PTX ISA's
// chapter "Memory Consistency Model". docs/racecheck.md has the rules with their sections, and the
// deviations.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "ptx/isa/instruction.h"
#include "ptx/machine/kernel.h"
#include "tools/clock.h"
#include "tools/lane_times.h"

namespace kernkit::simulator::ptx {

/// The properties of an instruction that determine how it orders memory accesses.
struct OrderTraits {
  AccessKind access = AccessKind::kNone;
  ThreadScope scope = ThreadScope::kNone;        // scope of a strong access
  ThreadScope fence_scope = ThreadScope::kNone;  // scope of a fence
  bool acquires = false, releases = false;
  bool is_cas = false;
  bool is_reduction = false;  // whether this is `red`, which forms no acquire pattern
  uint8_t element_bytes = 0;  // size of the scalar data type [bytes]

  bool reads() const { return access == AccessKind::kLoad || access == AccessKind::kAtomic; }
  bool is_strong() const { return scope != ThreadScope::kNone; }
};

/// Clocks of the accesses by the generic proxy that proxy fences order before later accesses by
/// another proxy.
struct ProxyClocks {
  // Clocks of accesses to global and to shared memory before a fence.proxy.async.
  SharedClock global, shared;
  SharedClock maps;  // clock of accesses before a release by fence.proxy.tensormap
  void add(const ProxyClocks& other) {
    global = joined(global, other.global);
    shared = joined(shared, other.shared);
    maps = joined(maps, other.maps);
  }
};

/// The clocks that release patterns on a location have released. `lenient` also includes clocks
/// that strong reads of the releasing warps found without an acquire fence. `by_barrier` has the
/// clocks that other threads released by fences before a barrier; accesses that only these clocks
/// order are reported at the level `warn`. `lanes` has the released times of single lanes, for the
/// order of the lanes of one warp. Releases that threads of other clusters can acquire have no
/// `lanes`.
struct Released {
  SharedClock strict, lenient, by_barrier;
  ProxyClocks fenced;
  SharedLaneTimes lanes;
  void add(const Released& other) {
    strict = joined(strict, other.strict);
    lenient = joined(lenient, other.lenient);
    by_barrier = joined(by_barrier, other.by_barrier);
    fenced.add(other.fenced);
    lanes = joined(lanes, other.lanes);
  }
  bool is_empty() const { return strict == nullptr && by_barrier == nullptr; }
};

/// The releases of a launch that threads of every block can acquire.
class LaunchOrder {
 public:
  /// The time of a warp at its last fence or release of any scope (of_block), of cluster scope or a
  /// wider scope (of_cluster), and of device scope or a wider scope (of_device).
  struct FenceTimes {
    uint32_t of_block = 0, of_cluster = 0, of_device = 0;
  };
  /// Returns the fence times of a warp; zeros if the warp had no fence.
  FenceTimes fences_of(uint64_t block, unsigned warp) const {
    const auto entry = fences_.find(key_of(block, warp));
    return entry == fences_.end() ? FenceTimes{} : entry->second;
  }
  /// The completion of an asynchronous operation: `time` is kPending until the time is determined.
  struct Completion {
    static constexpr uint32_t kPending = UINT32_MAX;
    uint64_t key;
    uint32_t time;
  };
  /// Adds a completion and returns its index.
  uint32_t add_completion(uint64_t key, uint32_t time) {
    completions_.push_back({key, time});
    return static_cast<uint32_t>(completions_.size() - 1);
  }
  const Completion& completion(uint32_t index) const { return completions_[index]; }
  void complete(uint32_t index, uint64_t key, uint32_t time) { completions_[index] = {key, time}; }

  /// Called for a launch with clusters of several blocks.
  void keep_clusters() { has_clusters_ = true; }
  bool has_clusters() const { return has_clusters_; }
  /// The arrivals at the barrier of a cluster: the releases, and the clock of what the warps that
  /// arrived with .relaxed did before.
  struct ClusterArrivals {
    Released released;
    SharedClock relaxed;
  };
  ClusterArrivals& cluster(uint64_t number) { return clusters_[number]; }

 private:
  friend class BlockOrder;
  struct Location {
    Released released;
    // Releases that only threads of the releasing thread's cluster can acquire, by number of the
    // cluster.
    std::map<uint64_t, Released> of_clusters;
    uint64_t version = 0;  // number of stores that reset `released` and `of_clusters`
  };
  std::unordered_map<uint64_t, Location> locations_;  // locations by address of global memory
  std::unordered_map<uint64_t, FenceTimes> fences_;   // fence times by key_of() of the warp
  bool has_clusters_ = false;
  std::unordered_map<uint64_t, ClusterArrivals> clusters_;  // arrivals by number of the cluster
  std::vector<Completion> completions_;
};

/// The order of one block's warps, while the block runs. An operation happened before the
/// operations of another warp that has acquired the operation's time.
class BlockOrder {
 public:
  explicit BlockOrder(LaunchOrder& all) : all_(all) {}
  /// Starts a block of `warps` warps, of the cluster `cluster`. All blocks of the launch have the
  /// same number of warps. `lanes`: whether only __syncwarp() and barriers order the lanes of a
  /// warp.
  void start(uint64_t block, uint64_t cluster, size_t warps, bool lanes);

  uint32_t time(unsigned warp) const { return strict_[warp].times[warp]; }
  void tick(unsigned warp) {
    ++strict_[warp].times[warp];
    if (is_lenient_) lenient_[warp].times[warp] = time(warp);
  }
  /// Returns whether operations of warp `other` at `time` happened before the current operation of
  /// `warp`.
  bool has_acquired(unsigned warp, uint64_t block, unsigned other, uint32_t time) const {
    return strict_[warp].has(block, other, time);
  }
  /// Like has_acquired(), but as if every strong read were an acquire operation.
  bool has_acquired_leniently(unsigned warp, uint64_t block, unsigned other, uint32_t time) const {
    return is_lenient_ && lenient_[warp].has(block, other, time);
  }
  /// Returns whether has_acquired_leniently() is true because of a cas of `warp` that no acquire
  /// fence follows.
  bool has_acquired_by_cas(unsigned warp, uint64_t block, unsigned other, uint32_t time) const {
    return is_lenient_ && by_cas_[warp].has(block, other, time);
  }
  /// Returns whether has_acquired_leniently() is true because one thread executed a fence before a
  /// barrier, and another thread wrote after the barrier.
  bool has_acquired_by_barrier(unsigned warp, uint64_t block, unsigned other, uint32_t time) const {
    return is_lenient_ && by_barrier_[warp].has(block, other, time);
  }
  /// Returns whether operations of lane `other` at `time` happened before the current operation of
  /// `lane`.
  bool lane_has_acquired(unsigned warp, unsigned lane, unsigned other, uint32_t time) const {
    return lanes_.empty() || lane == other || lanes_[warp][lane][other] > time;
  }

  void synchronise(unsigned warp, uint32_t lanes);
  void arrive(unsigned warp, uint32_t barrier, bool only);
  void open(uint32_t barrier);
  /// Records an arrival at the barrier of the block's cluster. `releases`: false for an arrival
  /// with `.relaxed`.
  void arrive_at_cluster(unsigned warp, bool releases);
  /// Called when the barrier of the cluster has opened. Only leave_cluster_barrier() acquires the
  /// releases of the arrivals.
  void open_cluster() { opened_ = all_.cluster(cluster_); }
  void leave_cluster_barrier(unsigned warp);
  /// Records a fence.mbarrier_init. A relaxed arrival at the barrier of the cluster releases the
  /// operations before the fence.
  void fence_inits(unsigned warp) { inits_[warp] = now(warp); }
  void fence(unsigned warp, const OrderTraits& traits);
  /// Records a fence.proxy.async for `spaces`, a mask of ProxySpaces.
  void fence_proxies(unsigned warp, uint8_t spaces);
  /// Records a release by fence.proxy.tensormap. released_maps() returns the clock of the accesses
  /// before the releases that happened before the current operation; null without a release.
  void release_maps(unsigned warp);
  const SharedClock& released_maps(unsigned warp) const { return fenced_[warp].maps; }
  /// Returns whether a fence.proxy.async is between an earlier access by the generic proxy and the
  /// current operation. Requires that the access happened before the operation.
  bool is_fenced(unsigned warp, bool is_shared, uint64_t block, unsigned other,
                 uint32_t time) const {
    const ProxyClocks& fenced = fenced_[warp];
    const SharedClock& clock = is_shared ? fenced.shared : fenced.global;
    return clock != nullptr && clock->has(block, other, time);
  }
  /// Returns whether a barrier of the block or cluster is between an access and the current
  /// operation.
  bool is_before_barrier(unsigned warp, uint64_t block, unsigned other, uint32_t time) const {
    const SharedClock& clock = at_barrier_[warp];
    return clock != nullptr && clock->has(block, other, time);
  }
  /// Returns whether an arrival with .relaxed at the barrier of the cluster, and the wait, are
  /// between an access and the current operation.
  bool is_before_relaxed_arrival(unsigned warp, uint64_t block, unsigned other,
                                 uint32_t time) const {
    return relaxed_[warp] != nullptr && relaxed_[warp]->has(block, other, time);
  }
  /// Records that the warp has waited until the object of `key` completed `time` operations, see
  /// CompletionKey.
  void complete(unsigned warp, uint64_t key, uint32_t time);
  bool has_completed(unsigned warp, uint64_t key, uint32_t time) const {
    const auto entry = strict_[warp].remote.find(key);
    return entry != strict_[warp].remote.end() && entry->second >= time;
  }
  /// Starts to record barriers for is_before_barrier().
  void note_barriers() { notes_barriers_ = true; }

  /// Releases by scope: `narrow` for threads of the block, `cluster` for threads of the cluster,
  /// `wide` for all threads.
  struct Fences {
    Released narrow, cluster, wide;
    void add(const Fences& other) {
      narrow.add(other.narrow);
      cluster.add(other.cluster);
      wide.add(other.wide);
    }
  };
  /// Returns the releases at the location `key`.
  Fences released_at(uint64_t key) const;
  /// Acquires the releases `found` at a location, by a strong read with these traits.
  void acquire(unsigned warp, const Fences& found, const OrderTraits& traits);
  /// Orders the lanes in `lanes`, which acquire the releases `found`: if a release followed the
  /// warp's last arrival at a barrier, the accesses of all lanes before this arrival happened
  /// before the current operation. The accesses of a lane before its release, if the release is
  /// among `found` or happened before a release among `found`, also happened before.
  void acquire_lanes(unsigned warp, uint32_t lanes, const Fences& found, const OrderTraits& traits);

  /// Returns whether any location has releases. Without releases, a read acquires nothing, and an
  /// atomic has no earlier releases to keep.
  bool any_released() const { return !local_.empty() || !all_.locations_.empty(); }
  /// Records a strong read of the location `key`, whose last write is morally strong with the read.
  void read(unsigned warp, uint64_t key, const OrderTraits& traits);
  /// Records a strong write by `lane` to the location `key`. `continues`: the write is an atomic,
  /// and is morally strong with the write whose value the atomic read.
  void write(unsigned warp, unsigned lane, uint64_t key, const OrderTraits& traits, bool continues);
  /// Records griddepcontrol.wait, after which earlier work has ended.
  void wait_for_earlier_work(unsigned warp) {
    strict_[warp].remote[kEarlierWork] = 1;
    if (is_lenient_) lenient_[warp].remote[kEarlierWork] = 1;
  }
  bool is_after_earlier_work(unsigned warp) const {
    return strict_[warp].remote.count(kEarlierWork) != 0;
  }
  /// Returns the location key of a byte of the shared memory of a block of a cluster.
  static uint64_t cluster_location(uint64_t block, uint64_t offset) {
    return offset | block << 20 | kOfCluster;
  }
  /// Returns the location key of a byte of the block's shared memory.
  static uint64_t shared_location(uint64_t offset) { return offset | kOfShared; }

 private:
  static constexpr uint64_t kOfShared = uint64_t{1} << 63, kOfCluster = uint64_t{1} << 62;
  struct Barrier {
    Clock strict, lenient;
    Fences fences;
    ProxyClocks fenced;
    LaneTimes lanes;
    uint32_t waiting = 0;
  };
  struct Local {
    Released released;
    uint64_t version;  // Location::version at the release
  };
  using Lanes = std::array<LaneRow, 32>;

  void begin_lenient();
  // Returns a release of the warp's operations until now. `lanes`: the lanes that release.
  Released now(unsigned warp, uint32_t lanes = 0) const;
  SharedLaneTimes lane_times(unsigned warp, uint32_t lanes) const;
  void note_fence(unsigned warp, ThreadScope scope);
  void acquire(unsigned warp, const Released& released);
  void acquire_by_barrier(unsigned warp, const Released& released);

  LaunchOrder& all_;
  uint64_t block_ = 0, cluster_ = 0;
  std::vector<Clock> strict_{kMostWarps};
  // lenient_ also includes the clocks that strong reads without an acquire fence found; by_cas_ has
  // only the clocks that cas operations found, and by_barrier_ the clocks of Released::by_barrier.
  // The three members are unused until is_lenient_ is true.
  bool is_lenient_ = false;
  std::vector<Clock> lenient_, by_cas_, by_barrier_;
  std::vector<Fences> fences_{kMostWarps};
  std::vector<ProxyClocks> fenced_{kMostWarps};
  bool notes_barriers_ = false;
  std::vector<SharedClock> at_barrier_{kMostWarps};  // clock acquired at the last barrier
  LaunchOrder::ClusterArrivals opened_;              // arrivals at the cluster's last phase
  // For each warp: clock of what is before arrivals with .relaxed at a barrier of the cluster that
  // the warp has left.
  std::vector<SharedClock> relaxed_{kMostWarps};
  std::vector<Released> inits_{kMostWarps};  // releases of the last fence.mbarrier_init
  std::vector<Fences> pending_{kMostWarps};  // releases found by reads, for the next fence
  // Releases of each warp's own release operations, by location.
  std::map<uint64_t, Fences> own_releases_[kMostWarps];
  std::map<uint32_t, Barrier> barriers_;
  std::unordered_map<uint64_t, Local> local_;  // releases for threads of the block, by location
  // For each warp and two lanes: first time of the second lane that the first lane has not
  // acquired.
  std::vector<Lanes> lanes_;
  // For each warp: the lane times that the warp has acquired, for the warp's releases.
  std::vector<SharedLaneTimes> acquired_lanes_{kMostWarps};
  // For each warp: time of the last arrival at a barrier of the block, 0 before the first arrival.
  std::array<uint32_t, kMostWarps> arrived_ = {};
};

}  // namespace kernkit::simulator::ptx
