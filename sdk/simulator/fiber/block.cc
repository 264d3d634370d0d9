// SPDX-License-Identifier: Apache-2.0
#include "fiber/block.h"

#include <cstdlib>
#include <cstring>

#include "fiber/fiber_pool.h"
#include "fiber/shared_variables.h"

namespace kernkit::simulator {
namespace {

thread_local Block* of_thread = nullptr;

// Maximum number of consecutive turns of a block's threads before another block runs. The limit is
// needed because threads that synchronise at a barrier in each iteration of a loop make progress,
// although the loop may wait for a store of another block.
constexpr unsigned kTurnsInARow = 1 << 18;

}  // namespace

Block* this_block() { return of_thread; }

void run_block(Grid& grid, uint3 index) {
  Block block(grid, index);
  of_thread = &block;
  block.run();
  of_thread = nullptr;
}

Block::Block(Grid& grid, uint3 index)
    : grid_(grid),
      index_(index),
      size_(grid.block.x * grid.block.y * grid.block.z),
      threads_(size_),
      warps_((size_ + 31) / 32),
      shared_memory_(std::aligned_alloc(1024, (grid.shared_memory + 1023) / 1024 * 1024)) {
  const uint64_t random = grid.random();
  const auto poison = static_cast<unsigned char>(grid.settings.poison ^ 0x5a);
  std::memset(shared_memory_, poison, grid.shared_memory);
  limit_allocation(shared_memory_, grid.shared_memory, (grid.shared_memory + 1023) / 1024 * 1024);
  fill_shared_variables(poison);
  race_release(this);
  first_ = static_cast<unsigned>(random % size_);
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = size_ - w * 32;
    warps_[w] = {lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1, nullptr, nullptr};
  }
}

Block::~Block() {
  for (Fiber* fiber : taken_) give_back(fiber);
  for (WarpRendezvous* sync : syncs_) delete sync;
  limit_allocation(shared_memory_, (grid_.shared_memory + 1023) / 1024 * 1024,
                   (grid_.shared_memory + 1023) / 1024 * 1024);
  grid_.release(shared_memory_);
}

void Block::run() {
  unsigned turns = 0;
  unsigned idle_turns = 0;  // consecutive turns in which a thread only polled
  unsigned idle_rounds = 0;
  uint64_t steps = 0;
  while (ended_ < size_) {
    progress_ = false;
    if (!resume_one()) {
      if (wake_first_call_sites()) continue;
      if (!grid_.failed()) grid_.fail(deadlock());
      return;
    }
    if (grid_.failed()) return;
    if (++turns % 1024 == 0 && is_endless(0)) return;
    if (progress_) {
      idle_turns = 0;
      const bool is_interrupted = grid_.settings.seed != 0 && grid_.random() % 1024 == 0;
      if (!is_interrupted && turns % kTurnsInARow != 0) continue;
    } else if (++idle_turns <= ready_count_ || started_ < size_) {
      continue;
    }
    // If idle_turns is not 0, all ready threads poll: they wait for threads at lanes_here(), or for
    // another block. `same`: no thread has synchronised or changed memory since the last check.
    const bool same = steps == steps_passed.count();
    steps = steps_passed.count();
    if (idle_turns != 0 && (same || ++idle_rounds % 256 == 0) && wake_first_call_sites()) {
      idle_turns = 0;
      continue;
    }
    if (idle_turns != 0 && is_endless(ready_count_)) return;
    if (!grid_.yield()) return;
    idle_turns = 0;
  }
}

bool Block::is_endless(unsigned waiting) {
  const std::string sentence = grid_.endless(waiting);
  if (sentence.empty()) return false;
  const CudaThread* thread = ready_ != nullptr ? ready_ : running_;
  grid_.fail((thread != nullptr ? location_text(*thread) : grid_.location_text(index_)) + ": " +
             sentence);
  return true;
}

// Runs one thread until it waits or ends. Returns false if no thread can run.
bool Block::resume_one() {
  blockIdx = index_;
  const bool may_start = started_ < size_;
  if (ready_ == nullptr && !may_start) return false;
  if (may_start && (ready_ == nullptr || grid_.random() % 2 == 0)) {
    if (idle_ == nullptr) {
      idle_ = take_fiber();
      idle_->next = nullptr;
      taken_.push_back(idle_);
    }
    fiber_ = idle_;
    idle_ = idle_->next;
    fiber_->start(run_threads, this);
    running_ = nullptr;
    fiber_->resume();
    return true;
  }
  CudaThread* thread = ready_;
  ready_ = thread->next;
  if (ready_ == nullptr) last_ready_ = nullptr;
  --ready_count_;
  running_ = thread;
  fiber_ = thread->fiber;
  threadIdx = thread->index;
  fiber_->resume();
  return true;
}

void Block::run_threads(void* block) { static_cast<Block*>(block)->run_threads(); }

// Runs threads on this fiber, one after the other. A thread keeps the fiber while it waits.
void Block::run_threads() {
  Fiber* const self = fiber_;
  do {
    start_one();
    CudaThread* thread = running_;
    race_acquire(&grid_.begins);
    race_acquire(this);
    thread->frame = __builtin_frame_address(0);
    grid_.invoke();
    race_release(&grid_.ends);
    end(thread);
  } while (!kRaceDetector && started_ < size_);
  self->finish();
  if (!kRaceDetector) {
    self->next = idle_;
    idle_ = self;
  }
  for (;;) self->suspend();
}

void Block::start_one() {
  unsigned number = first_ + started_++;
  if (number >= size_) number -= size_;
  CudaThread* thread = &threads_[number];
  const dim3 block = grid_.block;
  thread->number = number;
  thread->index = {number % block.x, number / block.x % block.y, number / block.x / block.y};
  thread->fiber = fiber_;
  thread->waits_at = nullptr;
  thread->ended = false;
  running_ = thread;
  threadIdx = thread->index;
  threads_passed.add();
}

void Block::end(CudaThread* thread) {
  const RaceIgnored bookkeeping;
  running_ = thread;
  thread->ended = true;
  ++ended_;
  progress_ = true;
  threads_passed.add();
  leave(thread);
}

void Block::push(CudaThread* thread) {
  thread->next = nullptr;
  thread->waits_at = nullptr;
  (last_ready_ == nullptr ? ready_ : last_ready_->next) = thread;
  last_ready_ = thread;
  ++ready_count_;
}

void Block::wake(CudaThread* waiting) {
  progress_ = true;
  steps_passed.add();
  if (waiting == nullptr) return;
  // With a seed, the woken threads may run before all ready threads, so a warp can be one barrier
  // ahead of another warp.
  CudaThread* overtaken = nullptr;
  CudaThread* last_overtaken = nullptr;
  if (grid_.random() % 2 == 1) {
    overtaken = ready_;
    last_overtaken = last_ready_;
    ready_ = last_ready_ = nullptr;
  }
  while (waiting != nullptr) {
    CudaThread* next = waiting->next;
    push(waiting);
    waiting = next;
  }
  if (overtaken != nullptr) {
    last_ready_->next = overtaken;
    last_ready_ = last_overtaken;
  }
}

void Block::wait(const char* function) {
  // The race detector observes accesses again during the suspension: if the fiber is never resumed,
  // it is restarted for another thread, whose accesses must not be ignored.
  const RaceObserved suspended;
  CudaThread* thread = running_;
  thread->waits_at = function;
  progress_ = true;
  thread->fiber->suspend();
}

void Block::spin() {
  if (++spins_ % 64 != 0) return;
  CudaThread* thread = running_;
  push(thread);
  thread->fiber->suspend();
}

}  // namespace kernkit::simulator
