// SPDX-License-Identifier: Apache-2.0
// Schedule: which blocks of a launch start when, and whether it goes on. Both ways to execute
// kernels have it.
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
  double watchdog = 20;         // seconds in which a kernel may stand still
  uint64_t sampled_grid = 0;    // of a grid of more blocks than that only some run; 0: all
  unsigned sampled_blocks = 0;  // so many
  bool spreads = false;         // blocks of PTX, see CudaRuntime::set_seed()
};

/// Threads of a block, or blocks of a grid.
inline uint64_t count(dim3 size) { return uint64_t{size.x} * size.y * size.z; }
/// So many blocks of the grid run; 0: all.
uint64_t sample(dim3 grid, const Settings& settings);
/// "[7, 0, 0]"
std::string index_text(uint3 index);
/// Of the thread or block of this number, x first.
uint3 index_of(uint64_t number, dim3 size);

class Schedule {
 public:
  /// Says on the standard error when not all blocks run.
  Schedule(const std::string& kernel, dim3 grid, const Settings& settings);

  /// A number from the seed, another one each time; 0 without a seed.
  uint64_t random();
  /// How many blocks run.
  uint64_t runs() const { return order_.runs(); }
  bool done() const { return order_.done(); }
  /// The index of the next block.
  uint3 take() { return index_of(order_.take(), grid_); }

  // To be asked now and then.
  /// "" or that its threads go on and do not end.
  std::string livelock_report();
  /// Whether for longer than the watchdog has patience nothing brought the kernel nearer to its
  /// end.
  bool is_stalled();

  /// A sentence about the launch, with the seed that shows it again.
  std::string with_seed(std::string sentence) const;

 private:
  dim3 grid_;
  Settings settings_;
  uint64_t random_;
  BlockOrder order_;
  StallTimer all_, threads_;
};

}  // namespace kernkit::simulator
