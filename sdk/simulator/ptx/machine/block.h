// SPDX-License-Identifier: Apache-2.0
// Block: the warps of a block, run in turn on one OS thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device_memory.h"
#include "hooks.h"
#include "ptx/machine/asynchronous_work.h"
#include "ptx/machine/heap.h"
#include "ptx/machine/kernel.h"
#include "ptx/machine/mbarriers.h"
#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

class ChildLaunches;
class Cluster;
struct Fault;

/// Data that the blocks of a launch share.
struct Launch {
  const Kernel& kernel;
  const Module& module;
  std::string name;  // C++ name of the kernel
  dim3 grid, block;
  dim3 cluster{1, 1, 1};  // size of a cluster [blocks]
  uint32_t dynamic_shared;
  const unsigned char* parameters;
  const DeviceMemory& memory;
  unsigned char poison;
  unsigned char* grid_barrier;  // counter of grid.sync(), whose address is in %envreg1 and %envreg2
  Heap& heap;
  ChildLaunches* children = nullptr;  // launches by threads of the grid
  LaunchHooks* hooks = nullptr;       // hooks of tools; null for an uninstrumented kernel
  const InstrumentedKernel* instrumented = nullptr;
  // Compute capability of the tensor cores whose rounding mma and wgmma reproduce; 0 for sums in
  // float.
  int summation = 0;
};

/// The state of a barrier from the first arrival until the barrier opens. Ended threads do not
/// count. If the barrier has a thread count, a warp counts as 32 threads when all of its live lanes
/// have arrived.
struct Barrier {
  // The operation of the first thread that arrived; null while no thread has arrived.
  const Operation* first = nullptr;
  unsigned count = 0;     // expected threads; 0 means all threads that have not ended
  unsigned arrived = 0;   // number of threads that arrived
  unsigned of_warps = 0;  // 32 for each warp whose live lanes have all arrived
  unsigned true_predicates = 0;
  uint32_t lanes[kMostWarps] = {};  // arrived lanes of each incomplete warp
};

/// A thread that has not ended, and the number of its next operation.
struct Running {
  unsigned thread;
  uint32_t pc;
};

struct Block {
  enum class Stop { kEnded, kYields, kWaits };
  static constexpr unsigned kBarriers = 16;               // barriers of bar.sync
  static constexpr unsigned kClusterBarrier = kBarriers;  // number of barrier.cluster for hooks

  Block(const Launch& its_launch, Cluster* its_cluster, uint32_t its_rank);
  ~Block();
  void start(uint3 its_index, uint64_t random);
  /// Runs until all threads have ended (kEnded), until it is another block's turn (kYields), or
  /// until no thread can continue (kWaits): the threads wait for other blocks of the cluster, or
  /// are in a deadlock, which the caller reports. Throws a Fault for an error of a thread.
  Stop run();
  /// Marks lanes of a warp as arrived at barrier `number`, which is for `count` threads, or for all
  /// threads if `count` is 0. Returns true if the barrier opened.
  bool arrive(Warp& warp, const Operation& operation, uint32_t lanes, uint32_t number,
              uint32_t count);
  /// Marks lanes of a warp as ended, which may open barriers.
  void end(Warp& warp, uint32_t lanes);

  /// Returns whether all warps of a warpgroup have committed the groups of products for which a
  /// wgmma.wait_group of one of its warps waits. Ended warps do not count.
  bool has_products(const Warp& warp, const Operation& wait) const;
  /// Commits a group of products of a warp, which may let other warps of its warpgroup continue.
  void commit_products(Warp& warp);

  /// Lets the threads that wait at barrier.cluster continue.
  void open_cluster_barrier();
  bool has_ended() const { return live_ == 0; }
  /// Returns whether a thread can continue.
  bool is_ready();
  /// Describes where the threads of the block wait, for the report of a deadlock. Stores the number
  /// of the first waiting thread in *first_thread.
  std::string waits_text(unsigned* first_thread) const;
  /// Returns the first thread that can continue; if all threads wait, the first thread that has not
  /// ended.
  Running running() const;

  const Launch& launch;
  Cluster* const cluster;
  const uint32_t rank;  // number of the block in its cluster
  uint3 index{};
  unsigned threads;
  std::vector<unsigned char> shared;
  Mbarriers mbarriers{shared.data()};
  /// Asynchronous work. The work completes at the latest when no thread can continue, when a round
  /// ends in which a warp yielded, or when the block ends, whichever is first.
  AsynchronousWork asynchronous;
  std::vector<Warp> warps;
  std::unique_ptr<BlockHooks> hooks;
  // Fault of the first invalid access that was left out, see LaunchHooks::continues_after_faults().
  std::unique_ptr<Fault> left_out;
  unsigned num_left_out = 0;  // number of accesses of the current block that were left out

 private:
  unsigned expected(unsigned count) const;
  void count_warp(Barrier* barrier, const Warp& warp) const;
  bool open_if_complete(uint32_t number);
  void complete_asynchronous();
  void complete_at_random();
  void retry_waits();
  bool continue_after_stall();
  void leave_barrier(uint32_t number);
  void retry_products(const Warp& warp);
  std::string mbarrier_text(const Warp& warp, int lane, const Operation& operation) const;

  std::unique_ptr<unsigned char[]> memory_;
  std::vector<Range> ranges_;  // allocation or variable that each operation accessed last
  std::vector<std::vector<unsigned char>> local_;
  unsigned live_ = 0;  // threads that have not ended
  Barrier barriers_[kBarriers];
  uint32_t in_use_ = 0;          // barriers at which threads have arrived [mask]
  std::vector<unsigned> order_;  // order in which warps run
  // When asynchronous work completes. kLate: as late as possible, see `asynchronous`. kEarly: after
  // each turn of a warp. kMixed: as kLate; in addition, the oldest work completes after a random
  // quarter of the turns. With a seed, the value is chosen at random for each block; without a
  // seed, the value is kLate.
  enum class Completion : uint8_t { kLate, kEarly, kMixed } completion_ = Completion::kLate;
  uint64_t random_ = 0;       // state of the block's random numbers; 0 without a seed
  uint64_t seen_phases_ = 0;  // completed_phases() when waits were last retried
};

}  // namespace kernkit::simulator::ptx
