// SPDX-License-Identifier: Apache-2.0
// Schedule: the order in which blocks of a launch start, and stall detection, for both executors.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "schedule/block_order.h"
#include "schedule/progress.h"

namespace kernkit::simulator {

/// How kernels run.
struct Settings {
  unsigned seed = 0;            // 0: blocks and threads start in their order
  unsigned char poison = 0xcd;  // fills new memory
  double watchdog = 20;         // time without progress until a kernel is stopped [s]
  uint64_t sampled_grid = 0;    // larger grids run in part [blocks]; 0: all run in full
  unsigned sampled_blocks = 0;  // blocks of such a grid that run
  bool spreads = false;         // blocks of PTX, see CudaRuntime::set_seed()
};

/// Threads of a block, or blocks of a grid.
inline uint64_t count(dim3 size) { return uint64_t{size.x} * size.y * size.z; }
/// The number of blocks of the grid that run; 0: all.
uint64_t sample(dim3 grid, const Settings& settings);
/// "[7, 0, 0]"
std::string index_text(uint3 index);
/// The index of the thread or block with this number; x varies fastest.
uint3 index_of(uint64_t number, dim3 size);

class Schedule {
 public:
  /// Reports on the standard error if only some blocks run.
  Schedule(const std::string& kernel, dim3 grid, const Settings& settings);

  /// A number from the seed, another one each time; 0 without a seed.
  uint64_t random();
  /// How many blocks run.
  uint64_t runs() const { return order_.runs(); }
  bool done() const { return order_.done(); }
  /// The index of the next block.
  uint3 take() { return index_of(order_.take(), grid_); }

  // Called from time to time.
  /// "" or a sentence that threads keep running without ending.
  std::string livelock_report();
  /// Whether the kernel made no progress for longer than the watchdog allows.
  bool is_stalled();

  /// The sentence with the seed that reproduces the launch.
  std::string with_seed(std::string sentence) const;

 private:
  dim3 grid_;
  Settings settings_;
  uint64_t random_;
  BlockOrder order_;
  StallTimer all_, threads_;
};

}  // namespace kernkit::simulator
