// SPDX-License-Identifier: Apache-2.0
// A block runs until it ends, or until it is time for others: then others start as well. Without a
// seed large grids run on all processors.
#include "ptx/machine/grid.h"

#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "ptx/machine/fault.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

// Threads times instructions from which on more than one processor is worth it.
constexpr uint64_t kLarge = 1 << 22;
constexpr size_t kMostBlocks = 64;  // that have begun, of one processor

class GridRun {
 public:
  GridRun(const Launch& launch, bool all_at_once, const Settings& settings)
      : launch_(launch),
        settings_(settings),
        schedule_(launch.name, launch.grid, settings),
        most_(all_at_once ? count(launch.grid) : kMostBlocks) {}

  PtxResult run() {
    const uint64_t work = schedule_.runs() * count(launch_.block) * launch_.kernel.code.size();
    unsigned processors = 1;
    if (settings_.seed == 0 && work >= kLarge) {
      processors = std::max(1u, std::thread::hardware_concurrency());
    }
    std::vector<std::thread> others;
    for (unsigned i = 1; i < processors && i < schedule_.runs(); ++i) {
      others.emplace_back([this] { run_blocks(); });
    }
    run_blocks();
    for (std::thread& other : others) other.join();
    return result_;
  }

 private:
  bool start_one(std::deque<std::unique_ptr<Block>>* live,
                 std::vector<std::unique_ptr<Block>>* idle) {
    uint3 index;
    uint64_t random;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (schedule_.done()) return false;
      index = schedule_.take();
      random = schedule_.random();
    }
    if (idle->empty()) idle->push_back(std::make_unique<Block>(launch_));
    live->push_front(std::move(idle->back()));
    idle->pop_back();
    live->front()->start(index, random);
    return true;
  }

  void run_blocks() {
    std::deque<std::unique_ptr<Block>> live;  // the one that runs next first
    std::vector<std::unique_ptr<Block>> idle;
    try {
      while (!stopped_ && (!live.empty() || start_one(&live, &idle))) {
        if (live.front()->run() == Block::Stop::kEnded) {
          idle.push_back(std::move(live.front()));
          live.pop_front();
          threads_passed.add();
          continue;
        }
        look_whether_it_ends(*live.front());
        live.push_back(std::move(live.front()));
        live.pop_front();
        if (live.size() < most_) start_one(&live, &idle);
      }
    } catch (const Fault& fault) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!stopped_) result_ = {schedule_.with_seed(fault.sentence), fault.error};
      stopped_ = true;
    }
  }

  void look_whether_it_ends(const Block& block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string text = schedule_.circle();
    const bool stands_still = schedule_.stands_still();
    if (text.empty() && !stands_still) return;
    if (text.empty()) {
      char still[128];
      std::snprintf(still, sizeof(still),
                    "does not end: for %g seconds no thread has ended, met others or "
                    "changed memory by an atomic",
                    settings_.watchdog);
      text = still;
    }
    unsigned thread = 0;
    while (block.warps[thread / 32].live == 0) thread += 32;
    const Warp& warp = block.warps[thread / 32];
    throw Fault{place_text(block, thread + static_cast<unsigned>(__builtin_ctz(warp.live))) + text +
                    line_text(block, launch_.kernel.code[warp.pc]),
                cudaErrorLaunchFailure};
  }

  const Launch& launch_;
  const Settings& settings_;
  Schedule schedule_;
  const size_t most_;
  std::mutex mutex_;
  std::atomic<bool> stopped_{false};
  PtxResult result_;
};

}  // namespace

PtxResult run_grid(const Launch& launch, bool all_at_once, const Settings& settings) {
  return GridRun(launch, all_at_once, settings).run();
}

}  // namespace kernkit::cuda_on_cpu::ptx
