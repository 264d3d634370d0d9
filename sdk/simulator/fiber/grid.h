// SPDX-License-Identifier: Apache-2.0
// Grid: a kernel that runs on the CPU. The blocks run on OS threads, one block at a time. Without a
// race detector, all blocks run on the launching thread until a block yields.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace kernkit::simulator {

struct Carrier;

class Grid {
 public:
  Grid(std::string name, const void* kernel, CudaInvoke invoke, void** arguments, dim3 grid,
       dim3 block, size_t shared_memory, bool cooperative, const Settings& settings);
  ~Grid();

  /// Runs every block. Returns the description of a fault, or "".
  std::string run();

  /// Called by a block that may be waiting for another block: lets another block run. Returns false
  /// if the grid must stop.
  bool yield();
  /// Records a fault and stops the grid. Only the first fault is kept.
  void fail(const std::string& sentence, cudaError_t error = cudaErrorLaunchFailure);
  cudaError_t error() const { return error_; }
  bool failed() const { return failed_; }
  /// Returns the start of a report, such as "scale: block [0, 0, 0]".
  std::string location_text(uint3 block) const;
  /// Returns a report if the threads of a block make no progress for longer than the watchdog
  /// allows; otherwise "". `waiting` is the number of threads that wait in a loop; 0 if not all
  /// threads wait. To be called periodically.
  std::string endless(unsigned waiting);
  uint64_t random() { return schedule_.random(); }
  /// Frees a block's memory. With the race detector, which would report the free as a race, the
  /// memory is freed at the end of the grid.
  void release(void* memory);
  void invoke() const { invoke_(kernel_, arguments_); }

  const std::string& name() const { return name_; }
  const dim3 grid, block;
  const size_t shared_memory;
  const Settings settings;
  // Addresses passed to race_release() and race_acquire(): all threads begin after the host's
  // earlier work, and end before the host's later work.
  char begins = 0, ends = 0;

 private:
  friend struct Carrier;
  bool take(uint3* index);
  void work(Carrier* carrier);
  Carrier* another(const Carrier* carrier);
  void leave(Carrier* carrier);

  std::string name_;
  const void* kernel_;
  CudaInvoke invoke_;
  void** arguments_;
  Schedule schedule_;
  size_t most_carriers_;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  std::vector<void*> released_;
  std::atomic<bool> failed_{false};
  std::string sentence_;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace kernkit::simulator
