// SPDX-License-Identifier: Apache-2.0
// Block: the warps of a block, one after the other on one OS thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/decode/kernel.h"
#include "ptx/machine/heap.h"
#include "ptx/machine/memory.h"
#include "ptx/machine/warp.h"
#include "ptx/machine/watch.h"

namespace kernkit::cuda_on_cpu::ptx {

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
  Watch* watch = nullptr;  // of tools, and their kernel
  const WatchedKernel* watched = nullptr;
};

struct Barrier {
  unsigned arrived = 0;
  unsigned expected = 0;  // threads
  unsigned true_predicates = 0;
  const Operation* first = nullptr;
};

/// A thread that has not ended, and the number of its next operation.
struct Running {
  unsigned thread;
  uint32_t pc;
};

struct Block {
  enum class Stop { kEnded, kYields };
  static constexpr unsigned kBarriers = 17;  // the last one: of a cluster of one block

  explicit Block(const Launch& its_launch);
  void start(uint3 its_index, uint64_t random);
  /// Runs until all threads ended, or it is time for other blocks to run. Throws a Fault.
  Stop run();
  /// Of lanes of a warp that came to a barrier; true: its last ones, and all have left it.
  bool arrive(Warp& warp, const Operation& operation, uint32_t lanes, uint32_t number,
              uint32_t count);

  /// The first thread that can go on; where all wait, the first that has not ended.
  Running running() const;

  const Launch& launch;
  uint3 index{};
  unsigned threads;
  std::vector<unsigned char> shared;
  std::vector<Warp> warps;
  std::unique_ptr<BlockWatch> watch;

 private:
  void leave_barrier(uint32_t number);
  [[noreturn]] void say_deadlock() const;

  std::unique_ptr<unsigned char[]> memory_;
  std::vector<Range> ranges_;  // of the operations
  std::vector<std::vector<unsigned char>> local_;
  Barrier barriers_[kBarriers];
  std::vector<unsigned> order_;  // of the warps
};

}  // namespace kernkit::cuda_on_cpu::ptx
