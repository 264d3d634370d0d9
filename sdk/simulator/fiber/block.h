// SPDX-License-Identifier: Apache-2.0
// Block: the threads of a block, each on a fiber once it waits; all of them on one OS thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fiber/call_site.h"
#include "fiber/fiber.h"
#include "fiber/grid.h"

namespace kernkit::simulator {

struct CudaThread {
  uint3 index;
  unsigned number;
  Fiber* fiber;
  CudaThread* next;
  const char* waits_at;  // null: runs or may run
  bool ended;
  const void* frame;      // of the kernel's caller
  const CallSite* place;  // at lanes_here()
  unsigned lanes;         // that came there
  unsigned passed_over;   // so often others went on instead
};

/// Lanes of a warp that are at the same function with the same mask.
struct WarpRendezvous {
  const char* function;
  unsigned mask;
  unsigned arrived;
  unsigned left;  // how many have yet to take the values
  bool complete;
  WarpValues values;
  CudaThread* waiting;
  WarpRendezvous* next;
};

struct WarpState {
  unsigned live;
  WarpRendezvous* meetings;
  CudaThread* here;  // at lanes_here()
};

class Block {
 public:
  Block(Grid& grid, uint3 index);
  ~Block();
  void run();

  // Called on a thread's fiber.
  int meet(Barrier kind, int predicate);
  void meet(const char* function, unsigned mask, uint64_t value, bool orders, WarpValues* out);
  void spin();
  unsigned lanes_here(const char* function, const CallSite& place);
  /// Says what is wrong; halt() must follow, when no temporary is left that would leak.
  void reject(const std::string& sentence, cudaError_t error = cudaErrorLaunchFailure);
  [[noreturn]] void halt();
  void* shared_memory() const { return shared_memory_; }
  const Grid& grid() const { return grid_; }
  Grid& grid() { return grid_; }
  std::string where(const CudaThread& thread) const;
  const CudaThread* running() const { return running_; }

 private:
  static void run_threads(void* block);
  void run_threads();
  bool resume_one();
  bool is_endless(unsigned waiting);
  void start_one();
  void end(CudaThread* thread);
  void wait(const char* function);
  void wake(CudaThread* waiting);
  void push(CudaThread* thread);
  void open_barrier();
  void leave(CudaThread* thread);
  void complete(WarpRendezvous* meeting);
  bool nobody_else_comes();
  std::string deadlock() const;

  Grid& grid_;
  uint3 index_;
  unsigned size_;
  std::vector<CudaThread> threads_;
  std::vector<WarpState> warps_;
  void* shared_memory_;
  unsigned first_ = 0;  // that starts
  unsigned started_ = 0;
  unsigned ended_ = 0;
  CudaThread* ready_ = nullptr;
  CudaThread* last_ready_ = nullptr;
  unsigned ready_count_ = 0;
  CudaThread* running_ = nullptr;
  Fiber* fiber_ = nullptr;  // that runs
  Fiber* idle_ = nullptr;
  std::vector<Fiber*> taken_;  // from the pool
  bool progress_ = false;
  // The barrier.
  CudaThread* at_barrier_ = nullptr;
  Barrier barrier_kind_ = Barrier::kPlain;
  unsigned arrived_ = 0;
  unsigned true_predicates_ = 0;
  int barrier_result_ = 0;
  unsigned rounds_ = 0;
  unsigned spins_ = 0;
  WarpRendezvous* free_meetings_ = nullptr;
  std::vector<WarpRendezvous*> meetings_;
  char barriers_[2] = {};  // for the race detector
};

/// Runs a block on this OS thread.
void run_block(Grid& grid, uint3 index);
/// The block that this OS thread runs; null outside a kernel.
Block* this_block();

}  // namespace kernkit::simulator
