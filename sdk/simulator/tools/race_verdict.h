// SPDX-License-Identifier: Apache-2.0
// RaceVerdict: the level of a pair of accesses, and the order that is missing between them.
#pragma once

#include <cstdint>

#include "kernkit/simulator/racecheck.h"

namespace kernkit::simulator::ptx {

/// The order or property that two conflicting accesses lack.
enum class RaceReason : uint8_t {
  kLanes,              // order between two lanes of a warp
  kBarrier,            // order between two warps of a block
  kBlocks,             // order between two blocks
  kLaunches,           // order between two kernels or calls
  kDependent,          // order of a programmatic dependent launch after earlier work
  kCopy,               // order after an asynchronous copy that its warp has not waited for
  kScope,              // a scope of the strong accesses that includes both threads
  kFenceScope,         // a wider scope of the first block's fence, which has block scope
  kClusterScope,       // a scope that includes both threads, instead of scope cluster
  kClusterFenceScope,  // a wider scope of the first block's fence, which has cluster scope
  kAcquire,            // only an acquire fence
  kPublisher,          // only a fence of the thread that wrote to the flag after a barrier
  kMixed,              // equal sizes of the strong accesses, which overlap in part
  kProducts,           // order after products of wgmma that no warp has waited for
  kProxies,            // only a fence.proxy.async between accesses by two proxies
  kMaps,               // only the fences before a bulk copy reads a tensor map
  kRelaxed,            // a release by the arrival at the barrier of a cluster that is between
};
inline const char* text_of(RaceReason reason) {
  switch (reason) {
    case RaceReason::kLanes: return ", with no __syncwarp() between that orders them";
    case RaceReason::kBarrier: return ", with no barrier between that orders them";
    case RaceReason::kDependent:
      return ", with no cudaGridDependencySynchronize() between that orders them";
    case RaceReason::kCopy: return ", with no wait for the asynchronous copy between";
    case RaceReason::kScope: return ", with scope cta, and the threads are in different blocks";
    case RaceReason::kFenceScope:
      return ", with a fence of scope cta between, and the threads are in different blocks";
    case RaceReason::kClusterScope:
      return ", with scope cluster, and the threads are in different clusters";
    case RaceReason::kClusterFenceScope:
      return ", with a fence of scope cluster between, and the threads are in different clusters";
    case RaceReason::kAcquire: return ", with no acquire fence between that orders them";
    case RaceReason::kPublisher:
      return ", with a fence before a barrier only, and no fence of the thread that publishes "
             "after the barrier";
    case RaceReason::kMixed: return ", which overlap in part: no access is atomic for the other";
    case RaceReason::kProducts: return ", with no wgmma.wait_group between that orders them";
    case RaceReason::kProxies: return ", with no fence.proxy.async between";
    case RaceReason::kRelaxed:
      return ", with barrier.cluster.arrive.relaxed between, which releases nothing";
    case RaceReason::kMaps: return ", with no fence.proxy.tensormap between";
    default: return ", with nothing between that orders them";
  }
}

struct RaceVerdict {
  /// kSilent: the accesses are unordered, which is not reported at any level.
  enum Kind : uint8_t { kOrdered, kSilent, kInfo, kWarn, kError } kind = kOrdered;
  RaceReason reason = RaceReason::kBlocks;

  bool is_reported(RaceLevel least) const { return kind >= kInfo && level() >= least; }
  RaceLevel level() const { return static_cast<RaceLevel>(kind - kInfo); }
};

}  // namespace kernkit::simulator::ptx
