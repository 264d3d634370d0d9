// SPDX-License-Identifier: Apache-2.0
// Block: the warps of a block, one after the other on one OS thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device_memory.h"
#include "hooks.h"
#include "ptx/machine/heap.h"
#include "ptx/machine/kernel.h"
#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// What the blocks of a launch share.
struct Launch {
  const Kernel& kernel;
  const Module& module;
  std::string name;  // as C++ writes it
  dim3 grid, block;
  uint32_t dynamic_shared;
  const unsigned char* parameters;
  const DeviceMemory& memory;
  unsigned char poison;
  unsigned char* grid_barrier;  // for cooperative groups, which find it by %envreg1 and 2
  Heap& heap;
  LaunchHooks* hooks = nullptr;  // of tools, whose kernel is the instrumented one
  const InstrumentedKernel* instrumented = nullptr;
};

/// A barrier at which threads arrived, until it opens. Threads that ended are left out. A count is
/// one of whole warps: a warp has arrived with 32 threads when none of its lanes is missing.
struct Barrier {
  const Operation* first = nullptr;  // of those that arrived; null: none did
  unsigned count = 0;                // threads that it is for; 0: all that have not ended
  unsigned arrived = 0;              // threads
  unsigned of_warps = 0;             // threads of the warps that arrived, 32 of each
  unsigned true_predicates = 0;
  uint32_t lanes[kMostWarps] = {};  // of each warp that has not arrived: lanes that did
};

/// A thread that has not ended, and the number of its next operation.
struct Running {
  unsigned thread;
  uint32_t pc;
};

struct Block {
  enum class Stop { kEnded, kYields };
  static constexpr unsigned kBarriers = 16;               // those of bar.sync
  static constexpr unsigned kClusterBarrier = kBarriers;  // that of a cluster of one block

  explicit Block(const Launch& its_launch);
  void start(uint3 its_index, uint64_t random);
  /// Runs until all threads ended, or it is time for other blocks to run. Throws a Fault.
  Stop run();
  /// Lanes of a warp arrive at a barrier. Returns true if the barrier opened.
  bool arrive(Warp& warp, const Operation& operation, uint32_t lanes, uint32_t number,
              uint32_t count);
  /// Lanes of a warp have ended: barriers may open that waited for them.
  void end(Warp& warp, uint32_t lanes);

  /// The first thread that can go on; where all wait, the first that has not ended.
  Running running() const;

  const Launch& launch;
  uint3 index{};
  unsigned threads;
  std::vector<unsigned char> shared;
  std::vector<Warp> warps;
  std::unique_ptr<BlockHooks> hooks;

 private:
  unsigned expected(unsigned count) const;
  void count_warp(Barrier* barrier, const Warp& warp) const;
  bool open_if_complete(uint32_t number);
  void leave_barrier(uint32_t number);
  [[noreturn]] void say_deadlock() const;

  std::unique_ptr<unsigned char[]> memory_;
  std::vector<Range> ranges_;  // of the operations
  std::vector<std::vector<unsigned char>> local_;
  unsigned live_ = 0;  // threads that have not ended
  Barrier barriers_[kBarriers + 1];
  uint32_t in_use_ = 0;          // a bit of each barrier at which threads arrived
  std::vector<unsigned> order_;  // of the warps
};

}  // namespace kernkit::simulator::ptx
