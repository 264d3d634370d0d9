// SPDX-License-Identifier: Apache-2.0
// Schedule: the order in which blocks of a launch start, and stall detection, for both executors.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "schedule/block_order.h"
#include "schedule/progress.h"

namespace kernkit::simulator {

/// Settings of the execution of kernels, see the functions of CudaRuntime.
struct Settings {
  unsigned seed = 0;            // seed of the order of blocks and threads; 0 for ascending order
  unsigned char poison = 0xcd;  // byte that fills new memory
  double watchdog = 20;         // time without progress after which a kernel is stopped [s]
  uint64_t sampled_grid = 0;    // largest grid that runs in full [blocks]; 0 for no limit
  unsigned sampled_blocks = 0;  // number of blocks of a larger grid that run
  bool spreads = false;         // whether PTX blocks use all processors with a seed, see set_seed()
  bool device_summation = false;  // see CudaRuntime::set_device_summation()
};

/// Returns the number of threads in a block of this size, or of blocks in a grid of this size.
inline uint64_t count(dim3 size) { return uint64_t{size.x} * size.y * size.z; }
/// Returns the number of blocks of the grid that run; 0 means all blocks.
uint64_t sample(dim3 grid, const Settings& settings);
/// Returns an index as text, such as "[7, 0, 0]".
std::string index_text(uint3 index);
/// Returns the index of the thread or block with this number; x varies fastest.
uint3 index_of(uint64_t number, dim3 size);

class Schedule {
 public:
  /// Prints the number of blocks that run to stderr, unless all blocks run.
  Schedule(const std::string& kernel, dim3 grid, const Settings& settings);

  /// Returns the next random number from the seed; 0 without a seed.
  uint64_t random();
  /// Returns the number of blocks that run.
  uint64_t runs() const { return order_.runs(); }
  bool done() const { return order_.done(); }
  /// Returns the index of the next block.
  uint3 take() { return index_of(order_.take(), grid_); }

  /// Returns a report if no thread has started or ended for too long, or "". Executors call this
  /// function and is_stalled() periodically.
  std::string livelock_report();
  /// Returns whether the kernel made no progress for longer than the watchdog allows.
  bool is_stalled();

  /// Returns `sentence`, with the seed appended unless the seed is 0.
  std::string with_seed(std::string sentence) const;

 private:
  dim3 grid_;
  Settings settings_;
  uint64_t random_;
  BlockOrder order_;
  StallTimer all_, threads_;
};

}  // namespace kernkit::simulator
