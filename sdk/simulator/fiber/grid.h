// SPDX-License-Identifier: Apache-2.0
// Grid: a kernel that runs on the CPU. Its blocks run on OS threads, one at a time: on the
// launching one as long as no block waits for another.
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

  /// Runs every block. Returns "" or what the kernel did wrong.
  std::string run();

  /// Called by a block that waits for another: lets others run. False when the grid is to stop.
  bool yield();
  /// Tells what is wrong and stops the grid; the first sentence is kept.
  void fail(const std::string& sentence, cudaError_t error = cudaErrorLaunchFailure);
  cudaError_t error() const { return error_; }
  bool failed() const { return failed_; }
  /// "kernel [thread block..]" for the start of a sentence.
  std::string where(uint3 block) const;
  /// "" or what the threads of a block do that does not end: `waiting` of them only ask whether
  /// they may go on, or (0) they go on. To be asked now and then.
  std::string endless(unsigned waiting);
  uint64_t random() { return schedule_.random(); }
  /// Frees a block's memory; not before the end where the race detector would see a race in that.
  void release(void* memory);
  void invoke() const { invoke_(kernel_, arguments_); }

  const std::string& name() const { return name_; }
  const dim3 grid, block;
  const size_t shared_memory;
  const Settings settings;
  // For the race detector: orders what is before and after all threads.
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
