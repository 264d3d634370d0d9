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

#include "execution/block_order.h"
#include "execution/progress.h"
#include "ptx/machine/fault.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

// Threads times instructions from which on more than one processor is worth it.
constexpr uint64_t kLarge = 1 << 22;
constexpr size_t kMostBlocks = 64;  // that have begun, of one processor

uint64_t count(dim3 size) { return uint64_t{size.x} * size.y * size.z; }

class GridRun {
 public:
  GridRun(const Launch& launch, bool all_at_once, const Settings& settings)
      : launch_(launch),
        settings_(settings),
        blocks_(count(launch.grid)),
        most_(all_at_once ? blocks_ : kMostBlocks),
        order_(blocks_, is_sampled() ? settings.sampled_blocks : 0),
        random_(launch.seed),
        all_(settings.watchdog / 8),
        threads_(settings.watchdog / 8) {
    if (launch.seed != 0) order_.mix(random(), random());
    if (order_.runs() < blocks_) {
      std::fprintf(stderr, "kernkit: %s: of its %llu blocks %llu run\n", launch.name.c_str(),
                   static_cast<unsigned long long>(blocks_),
                   static_cast<unsigned long long>(order_.runs()));
    }
  }

  PtxResult run() {
    const uint64_t work = order_.runs() * count(launch_.block) * launch_.kernel.code.size();
    unsigned processors = 1;
    if (launch_.seed == 0 && work >= kLarge) {
      processors = std::max(1u, std::thread::hardware_concurrency());
    }
    std::vector<std::thread> others;
    for (unsigned i = 1; i < processors && i < order_.runs(); ++i) {
      others.emplace_back([this] { run_blocks(); });
    }
    run_blocks();
    for (std::thread& other : others) other.join();
    return result_;
  }

 private:
  bool is_sampled() const {
    return settings_.sampled_grid != 0 && blocks_ > settings_.sampled_grid;
  }

  // splitmix64; 0 without a seed
  uint64_t random() {
    if (launch_.seed == 0) return 0;
    uint64_t x = random_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  bool start_one(std::deque<std::unique_ptr<Block>>* live,
                 std::vector<std::unique_ptr<Block>>* idle) {
    uint64_t number, random_number;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (order_.done()) return false;
      number = order_.take();
      random_number = random();
    }
    if (idle->empty()) idle->push_back(std::make_unique<Block>(launch_));
    live->push_front(std::move(idle->back()));
    idle->pop_back();
    const dim3 grid = launch_.grid;
    live->front()->start(
        {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
         static_cast<unsigned>(number / grid.x / grid.y)},
        random_number);
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
      if (!stopped_) result_ = {fault.sentence, fault.error};
      if (!stopped_ && launch_.seed != 0) {
        result_.sentence += " (seed " + std::to_string(launch_.seed) + ")";
      }
      stopped_ = true;
    }
  }

  void look_whether_it_ends(const Block& block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t passed = threads_passed.count() + steps_passed.count();
    const double longest = kCircles * settings_.watchdog;
    const bool in_a_circle = threads_.of(threads_passed.count()) > longest;
    if (all_.of(passed) <= settings_.watchdog && !in_a_circle) return;
    char text[160];
    std::snprintf(
        text, sizeof(text),
        in_a_circle ? "does not end: its threads go on, and for %g seconds none has begun or ended"
                    : "does not end: for %g seconds no thread has ended, met others or "
                      "changed memory by an atomic",
        in_a_circle ? longest : settings_.watchdog);
    unsigned thread = 0;
    while (block.warps[thread / 32].live == 0) thread += 32;
    const Warp& warp = block.warps[thread / 32];
    throw Fault{place_text(block, thread + static_cast<unsigned>(__builtin_ctz(warp.live))) + text +
                    line_text(block, launch_.kernel.code[warp.pc]),
                cudaErrorLaunchFailure};
  }

  const Launch& launch_;
  const Settings& settings_;
  const uint64_t blocks_;
  const size_t most_;
  BlockOrder order_;
  uint64_t random_;
  Standstill all_, threads_;
  std::mutex mutex_;
  std::atomic<bool> stopped_{false};
  PtxResult result_;
};

}  // namespace

PtxResult run_grid(const Launch& launch, bool all_at_once, const Settings& settings) {
  return GridRun(launch, all_at_once, settings).run();
}

}  // namespace kernkit::cuda_on_cpu::ptx
