// SPDX-License-Identifier: Apache-2.0
// The race detector must see blocks as unsynchronised threads. Apart from starting and joining
// threads, this file therefore calls no synchronisation function that the detector intercepts:
// carriers wait by system calls.
#include "fiber/grid.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "fiber/block.h"
#include "fiber/shared_variables.h"
#include "schedule/watchdog.h"

namespace kernkit::simulator {

/// An OS thread that runs blocks of a grid. Only one carrier of the grid runs at a time: the
/// carrier that received the baton by give().
struct Carrier {
  explicit Carrier(Grid* its_grid) : grid(its_grid) {}

  void wait() {
    while (baton.exchange(0) == 0) syscall(SYS_futex, &baton, FUTEX_WAIT_PRIVATE, 0, nullptr);
  }
  void give() {
    baton.store(1);
    syscall(SYS_futex, &baton, FUTEX_WAKE_PRIVATE, 1);
  }

  Grid* grid;
  std::atomic<int> baton{0};
  bool done = false;
  std::thread thread;  // not joinable if the carrier is the launching thread
};

namespace {

thread_local Carrier* this_carrier = nullptr;

}  // namespace

Grid::Grid(std::string name, const void* kernel, CudaInvoke invoke, void** arguments, dim3 grid_,
           dim3 block_, size_t shared_memory_, bool cooperative, const Settings& settings_)
    : grid(grid_),
      block(block_),
      shared_memory(shared_memory_),
      settings(settings_),
      name_(std::move(name)),
      kernel_(kernel),
      invoke_(invoke),
      arguments_(arguments),
      schedule_(name_, grid_, settings_),
      most_carriers_(cooperative ? count(grid_) : 64) {
  find_shared_variables();
}

Grid::~Grid() {
  for (void* memory : released_) std::free(memory);
}

void Grid::release(void* memory) {
  if (kRaceDetector) {
    released_.push_back(memory);
  } else {
    std::free(memory);
  }
}

std::string Grid::endless(unsigned waiting) {
  std::string livelock = schedule_.livelock_report();
  if (!livelock.empty()) return livelock;
  if (waiting == 0 || !schedule_.is_stalled()) return "";
  return "does not end: " + std::to_string(waiting) + " threads of the block wait in a loop";
}

std::string Grid::location_text(uint3 index) const {
  return name_ + ": block " + index_text(index);
}

void Grid::fail(const std::string& sentence, cudaError_t error) {
  if (failed_) return;
  sentence_ = schedule_.with_seed(sentence);
  error_ = error;
  failed_ = true;
}

bool Grid::take(uint3* index) {
  if (schedule_.done() || failed_) return false;
  *index = schedule_.take();
  return true;
}

void Grid::work(Carrier* carrier) {
  const RaceIgnored bookkeeping;
  this_carrier = carrier;
  gridDim = grid;
  blockDim = block;
  uint3 index;
  // With the race detector each OS thread runs one block: two blocks on one OS thread would share
  // the thread-local memory that holds __shared__ variables.
  while (take(&index)) {
    run_block(*this, index);
    if (kRaceDetector) break;
  }
  this_carrier = nullptr;
}

// Returns another carrier that has work: an existing carrier, or a new carrier for blocks that have
// not started. Returns null if no other carrier has work.
Carrier* Grid::another(const Carrier* carrier) {
  Carrier* next = nullptr;
  size_t self = 0;
  size_t live = 0;
  for (size_t i = 0; i < carriers_.size(); ++i) {
    if (carriers_[i].get() == carrier) self = i;
    live += carriers_[i]->done ? 0 : 1;
  }
  const size_t skip = random() % carriers_.size();
  for (size_t i = 1; i <= carriers_.size() && next == nullptr; ++i) {
    Carrier* candidate = carriers_[(self + skip + i) % carriers_.size()].get();
    if (!candidate->done && candidate != carrier) next = candidate;
  }
  const bool startable = !schedule_.done() && live < most_carriers_ && !failed_;
  if (!startable || (next != nullptr && random() % 2 == 1)) return next;
  carriers_.push_back(std::make_unique<Carrier>(this));
  Carrier* added = carriers_.back().get();
  added->thread = std::thread([this, added] {
    added->wait();
    work(added);
    leave(added);
  });
  return added;
}

bool Grid::yield() {
  Carrier* self = this_carrier;
  Carrier* next = another(self);
  if (next != nullptr) {
    next->give();
    self->wait();
  }
  return !failed_;
}

void Grid::leave(Carrier* carrier) {
  const RaceIgnored bookkeeping;
  carrier->done = true;
  if (Carrier* next = another(carrier)) next->give();
}

std::string Grid::run() {
  const Watchdog watchdog(name_, settings.watchdog);
  race_release(&begins);
  const RaceIgnored bookkeeping;
  carriers_.push_back(std::make_unique<Carrier>(this));
  Carrier* self = carriers_.back().get();
  if (!kRaceDetector) work(self);
  // Passes the baton until all other carriers have ended. A carrier that ends also passes the baton
  // on, possibly back to this thread.
  while (Carrier* next = another(self)) {
    next->give();
    self->wait();
  }
  for (auto& carrier : carriers_) {
    if (carrier->thread.joinable()) carrier->thread.join();
  }
  race_acquire(&ends);
  return sentence_;
}

}  // namespace kernkit::simulator
