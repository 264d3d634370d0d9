// SPDX-License-Identifier: Apache-2.0
// WatchedKernel: a kernel whose operations come to a tool before and after they run.
#pragma once

#include <string>
#include <vector>

#include "ptx/decode/kernel.h"
#include "tools/definedness.h"

namespace kernkit::simulator::ptx {

/// What an operation does to memory: kCopy loads and stores.
enum class AccessKind : uint8_t { kNone, kLoad, kStore, kAtomic, kCopy };

/// What others wait for, volatile and atomic accesses: order by these is taken for what was wanted.
/// Of a fence: whom it is for.
enum class Reach : uint8_t { kNone, kBlock, kDevice };

/// What an operation does about grids before and after its own: griddepcontrol.
enum class GridStep : uint8_t { kNone, kWaits, kTriggers };

/// A line of the source. Operations of one place have the same.
struct Line {
  std::string place, file;  // as LineCounters has them
  int line = 0;
};

struct WatchedKernel {
  WatchedKernel(const Kernel& original, const Module& module);

  Kernel kernel;
  std::vector<Line> lines;
  // Of each operation:
  std::vector<Run> runs;
  std::vector<AccessKind> accesses;
  std::vector<uint32_t> line_of;  // a number of `lines`
  std::vector<Reach> ordered, fences;
  std::vector<GridStep> grid_steps;
  mutable std::vector<BitPlan> bit_plans;  // made at the first launch with InitWatch
};

}  // namespace kernkit::simulator::ptx
