// SPDX-License-Identifier: Apache-2.0
// Block: the threads of a block on one OS thread. Each thread that waits has its own fiber.
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
  const char* waits_at;  // function at which the thread waits; null if the thread can run
  bool ended;
  const void* frame;          // stack frame of the kernel's caller
  const CallSite* call_site;  // call site of lanes_here()
  unsigned lanes;             // mask of the lanes at the same call site
  unsigned passed_over;       // number of times that only earlier call sites were woken
};

/// Lanes of a warp that have arrived at the same function with the same mask.
struct WarpRendezvous {
  const char* function;
  unsigned mask;
  unsigned arrived;
  unsigned remaining;  // number of lanes that have not read the values yet
  bool complete;
  WarpValues values;
  CudaThread* waiting;
  WarpRendezvous* next;
};

struct WarpState {
  unsigned live;
  WarpRendezvous* syncs;
  CudaThread* here;  // threads at lanes_here()
};

class Block {
 public:
  Block(Grid& grid, uint3 index);
  ~Block();
  void run();

  // The following functions are called by a thread of the kernel, on the thread's fiber.
  int sync_block(Barrier kind, int predicate);
  void sync_warp(const char* function, unsigned mask, uint64_t value, bool orders, WarpValues* out);
  void spin();
  unsigned lanes_here(const char* function, const CallSite& call_site);
  /// Reports a fault of the running thread. The caller must then call halt() in a statement of its
  /// own: halt() never returns, and temporaries of the same statement would leak.
  void reject(const std::string& sentence, cudaError_t error = cudaErrorLaunchFailure);
  [[noreturn]] void halt();
  void* shared_memory() const { return shared_memory_; }
  const Grid& grid() const { return grid_; }
  Grid& grid() { return grid_; }
  std::string location_text(const CudaThread& thread) const;
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
  void complete(WarpRendezvous* sync);
  bool wake_first_call_sites();
  std::string deadlock() const;

  Grid& grid_;
  uint3 index_;
  unsigned size_;
  std::vector<CudaThread> threads_;
  std::vector<WarpState> warps_;
  void* shared_memory_;
  unsigned first_ = 0;  // number within the block of the thread that starts first
  unsigned started_ = 0;
  unsigned ended_ = 0;
  CudaThread* ready_ = nullptr;
  CudaThread* last_ready_ = nullptr;
  unsigned ready_count_ = 0;
  CudaThread* running_ = nullptr;
  Fiber* fiber_ = nullptr;  // fiber that runs
  Fiber* idle_ = nullptr;
  std::vector<Fiber*> taken_;  // fibers taken from the pool, which ~Block() gives back
  bool progress_ = false;
  // State of the block's barrier.
  CudaThread* at_barrier_ = nullptr;
  Barrier barrier_kind_ = Barrier::kPlain;
  unsigned arrived_ = 0;
  unsigned true_predicates_ = 0;
  int barrier_result_ = 0;
  unsigned rounds_ = 0;
  unsigned spins_ = 0;
  WarpRendezvous* free_syncs_ = nullptr;
  std::vector<WarpRendezvous*> syncs_;
  // Addresses passed to race_release() and race_acquire() in even and odd rounds of the barrier.
  char barriers_[2] = {};
};

/// Runs a block on this OS thread.
void run_block(Grid& grid, uint3 index);
/// Returns the block that this OS thread runs; null outside a kernel.
Block* this_block();

}  // namespace kernkit::simulator
