// SPDX-License-Identifier: Apache-2.0
// Barriers and warp functions.
#include "fiber/block.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace kernkit::simulator {
namespace {

const char* name_of(Barrier kind) {
  switch (kind) {
    case Barrier::kPlain: return "__syncthreads";
    case Barrier::kCount: return "__syncthreads_count";
    case Barrier::kAnd: return "__syncthreads_and";
    case Barrier::kOr: return "__syncthreads_or";
  }
  return "";
}

std::string hexadecimal(unsigned mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}

Block& block_of(const char* function) {
  if (Block* block = this_block()) return *block;
  std::fprintf(stderr, "kernkit: %s() was called outside a kernel\n", function);
  std::abort();
}

}  // namespace

int Block::sync_block(Barrier kind, int predicate) {
  if (arrived_ == 0) barrier_kind_ = kind;
  if (kind != barrier_kind_) {
    reject(std::string(name_of(kind)) + "() was called while other threads of the block wait at " +
           name_of(barrier_kind_) + "()");
    halt();
  }
  char* round = &barriers_[rounds_ % 2];
  race_release(round);
  true_predicates_ += predicate != 0 ? 1 : 0;
  if (++arrived_ < size_ - ended_) {
    running_->next = at_barrier_;
    at_barrier_ = running_;
    wait(name_of(kind));
  } else {
    open_barrier();
  }
  race_acquire(round);
  return barrier_result_;
}

// Opens the barrier. Requires that all threads that have not ended have arrived.
void Block::open_barrier() {
  const unsigned count = true_predicates_;
  barrier_result_ = barrier_kind_ == Barrier::kCount ? static_cast<int>(count)
                    : barrier_kind_ == Barrier::kAnd ? count == arrived_
                                                     : count != 0;
  CudaThread* waiting = at_barrier_;
  at_barrier_ = nullptr;
  arrived_ = true_predicates_ = 0;
  ++rounds_;
  wake(waiting);
}

// Called when a thread ends: completes the barrier and the warp functions that waited only for this
// thread.
void Block::leave(CudaThread* thread) {
  if (arrived_ != 0 && arrived_ == size_ - ended_) open_barrier();
  const unsigned lane = thread->number % 32;
  WarpState& warp = warps_[thread->number / 32];
  warp.live &= ~(1u << lane);
  for (WarpRendezvous* sync = warp.syncs; sync != nullptr; sync = sync->next) {
    if (sync->complete || (sync->mask >> lane & 1) == 0) continue;
    if ((sync->mask & warp.live & ~sync->arrived) == 0) complete(sync);
  }
}

void Block::complete(WarpRendezvous* sync) {
  sync->complete = true;
  sync->values.lanes = sync->arrived;
  wake(sync->waiting);
  sync->waiting = nullptr;
}

void Block::sync_warp(const char* function, unsigned mask, uint64_t value, bool orders,
                      WarpValues* out) {
  const unsigned lane = running_->number % 32;
  WarpState& warp = warps_[running_->number / 32];
  if ((mask >> lane & 1) == 0) {
    reject(std::string(function) + "(): the mask " + hexadecimal(mask) +
           " lacks the calling lane " + std::to_string(lane));
    halt();
  }
  WarpRendezvous* sync = warp.syncs;
  while (sync != nullptr &&
         (sync->complete || sync->mask != mask || std::strcmp(sync->function, function) != 0)) {
    // This call and the call in *sync have different functions or masks, and each mask contains a
    // lane of the other call: the lanes would wait for each other forever.
    if (!sync->complete && (sync->mask & 1u << lane) != 0 && (mask & sync->arrived) != 0) {
      reject(std::string(function) + "(): called by lane " + std::to_string(lane) + " with mask " +
             hexadecimal(mask) + ", and a lane whose mask includes lane " + std::to_string(lane) +
             " called " + sync->function + "() with mask " + hexadecimal(sync->mask));
      halt();
    }
    sync = sync->next;
  }
  if (sync == nullptr) {
    sync = free_syncs_;
    if (sync == nullptr) {
      sync = new WarpRendezvous;
      syncs_.push_back(sync);
    } else {
      free_syncs_ = sync->next;
    }
    sync->function = function;
    sync->mask = mask;
    sync->arrived = sync->remaining = 0;
    sync->complete = false;
    sync->waiting = nullptr;
    sync->next = warp.syncs;
    warp.syncs = sync;
  }
  if (orders) race_release(sync);
  sync->values.values[lane] = value;
  sync->arrived |= 1u << lane;
  ++sync->remaining;
  if ((mask & warp.live & ~sync->arrived) != 0) {
    running_->next = sync->waiting;
    sync->waiting = running_;
    wait(function);
  } else {
    complete(sync);
  }
  if (orders) race_acquire(sync);
  *out = sync->values;
  if (--sync->remaining != 0) return;
  WarpRendezvous** link = &warp.syncs;
  while (*link != sync) link = &(*link)->next;
  *link = sync->next;
  sync->next = free_syncs_;
  free_syncs_ = sync;
}

unsigned Block::lanes_here(const char* function, const CallSite& call_site) {
  CudaThread* thread = running_;
  WarpState& warp = warps_[thread->number / 32];
  thread->call_site = &call_site;
  thread->passed_over = 0;
  thread->next = warp.here;
  warp.here = thread;
  wait(function);
  return thread->lanes;
}

// Wakes, in each warp, the threads at the first call site of lanes_here(), since these threads may
// still reach later call sites. Returns false if no thread waits at lanes_here().
bool Block::wake_first_call_sites() {
  // Threads at a later call site are woken too after threads at an earlier call site were preferred
  // this many times, since the threads also continue eventually on a device.
  constexpr unsigned kOften = 10000;
  bool any = false;
  for (WarpState& warp : warps_) {
    CudaThread* const all = std::exchange(warp.here, nullptr);
    const CallSite* first = nullptr;
    for (CudaThread* thread = all; thread != nullptr; thread = thread->next) {
      if (first == nullptr || *thread->call_site < *first) first = thread->call_site;
      thread->lanes = 0;
      for (const CudaThread* other = all; other != nullptr; other = other->next) {
        if (*other->call_site == *thread->call_site) thread->lanes |= 1u << other->number % 32;
      }
    }
    CudaThread* woken = nullptr;
    for (CudaThread *thread = all, *next; thread != nullptr; thread = next) {
      next = thread->next;
      const bool goes_on = *thread->call_site == *first || ++thread->passed_over > kOften;
      CudaThread** list = goes_on ? &woken : &warp.here;
      thread->next = *list;
      *list = thread;
    }
    if (woken != nullptr) wake(woken);
    any |= woken != nullptr;
  }
  return any;
}

// Functions that kernels call on their fibers:

int sync_block(Barrier kind, int predicate) {
  const RaceIgnored bookkeeping;
  return block_of(name_of(kind)).sync_block(kind, predicate);
}
void sync_warp(const char* function, unsigned mask, uint64_t value, bool orders, WarpValues* out) {
  const RaceIgnored bookkeeping;
  block_of(function).sync_warp(function, mask, value, orders, out);
}

unsigned lane_id() {
  const Block* block = this_block();
  return block == nullptr ? 0 : block->running()->number % 32;
}
unsigned lanes_here(const char* function, int line) {
  const RaceIgnored bookkeeping;
  Block& block = block_of(function);
  return block.lanes_here(function, CallSite(line, block.running()->frame));
}

void step() { steps_passed.add(); }
void spin() {
  if (Block* block = this_block()) block->spin();
}
void fence() {
  static char all;
  race_acquire(&all);
  race_release(&all);
  spin();
}
void trap(const char* sentence) {
  const RaceIgnored bookkeeping;
  Block& block = block_of("__trap");
  block.reject(sentence);
  block.halt();
}

void* dynamic_shared_memory() { return block_of("dynamic_shared").shared_memory(); }
unsigned dynamic_shared_size() {
  return static_cast<unsigned>(block_of("dynamic_shared").grid().shared_memory);
}

}  // namespace kernkit::simulator
