// SPDX-License-Identifier: Apache-2.0
// RaceVerdict: the level of a pair of accesses, and the order that is missing between them.
#pragma once

#include <cstdint>

#include "kernkit/simulator/racecheck.h"

namespace kernkit::simulator::ptx {

/// The order that is missing between two conflicting accesses.
enum class RaceReason : uint8_t {
  kLanes,       // of two lanes of a warp
  kBarrier,     // of two warps of a block
  kBlocks,      // of two blocks
  kLaunches,    // of two kernels or calls
  kDependent,   // of a programmatic dependent launch and earlier work
  kCopy,        // of an asynchronous copy that its warp has not waited for
  kScope,       // of strong accesses, whose scope lacks the other thread
  kFenceScope,  // of two blocks, the first of which has a fence of a block's scope
  kAcquire,     // ordered but for an acquire fence
  kMixed,       // of strong accesses that overlap in part
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
    case RaceReason::kAcquire: return ", with no acquire fence between that orders them";
    case RaceReason::kMixed: return ", which overlap in part: no access is atomic for the other";
    default: return ", with nothing between that orders them";
  }
}

struct RaceVerdict {
  /// kSilent: unordered, and not reported at any level.
  enum Kind : uint8_t { kOrdered, kSilent, kInfo, kWarn, kError } kind = kOrdered;
  RaceReason reason = RaceReason::kBlocks;

  bool is_reported(RaceLevel least) const { return kind >= kInfo && level() >= least; }
  RaceLevel level() const { return static_cast<RaceLevel>(kind - kInfo); }
};

}  // namespace kernkit::simulator::ptx
