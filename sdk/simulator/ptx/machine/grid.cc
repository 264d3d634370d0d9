// SPDX-License-Identifier: Apache-2.0
// A block runs until it ends, or until it is another block's turn; then another block starts as
// well. Large grids can run on all processors, see GridRun::processors().
#include "ptx/machine/grid.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "platform/sanitizers.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"

namespace kernkit::simulator::ptx {
namespace {

// Least work of a grid that runs on several processors [threads of the grid times operations of the
// kernel].
constexpr uint64_t kLarge = 1 << 22;
constexpr unsigned kTurnsInARow = 1024;  // maximum number of consecutive turns of a block
constexpr size_t kMostBlocks = 64;       // maximum number of unfinished blocks of a processor
constexpr uint64_t kNoEnd = UINT64_MAX;
std::atomic<unsigned> last_processors{0};
#if defined(__x86_64__)
constexpr bool kStoresInOrder =
    true;  // stores become visible in program order, and loads execute in program order
#else
constexpr bool kStoresInOrder = false;
#endif

// Returns whether blocks that execute an operation remain independent: without a data race, no
// block reads memory that another block writes, so results do not depend on the order of the
// blocks.
bool is_independent(const Kernel& kernel, const Operation& operation) {
  const Origin& origin = kernel.origins[operation.number];
  const bool is_shared = operation.space == Space::kShared;
  if (origin.access == AccessKind::kAtomic) return is_shared;
  if (origin.has_effect(Effect::kFence)) return origin.scope == ThreadScope::kBlock;
  if (origin.has_effect(Effect::kCall)) return false;  // the function may print or allocate
  return is_shared || (origin.ordering == Ordering::kWeak && !origin.is_uncached);
}

// Sets the processor's default floating-point mode for the lifetime of the object: a program may
// have set another rounding mode, or flush subnormal numbers, or trap exceptions.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&before_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t before_;
};

// Returns the size of the grid [clusters].
dim3 grid_of_clusters(const Launch& launch) {
  return {launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
          launch.grid.z / launch.cluster.z};
}

class GridRun {
 public:
  GridRun(const Launch& launch, bool all_at_once, const Settings& settings)
      : launch_(launch),
        settings_(settings),
        schedule_(launch.name, grid_of_clusters(launch), settings),
        most_(all_at_once ? count(launch.grid) : kMostBlocks) {}

  PtxResult run() {
    const auto processors = static_cast<unsigned>(
        std::min<uint64_t>(this->processors(), std::max<uint64_t>(1, schedule_.runs())));
    last_processors = processors;
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < processors; ++i) {
      threads.emplace_back([this] {
        const RaceIgnored bookkeeping;  // the launching thread has a RaceIgnored too
        run_blocks();
      });
    }
    run_blocks();
    for (std::thread& other : threads) other.join();
    return result_;
  }

 private:
  struct Begun {
    std::unique_ptr<Cluster> cluster;
    uint64_t number;     // position in the order of starts
    unsigned turns = 0;  // number of interruptions
  };

  bool blocks_are_independent() const {
    const std::vector<Operation>& code = launch_.kernel.code;
    return std::all_of(code.begin(), code.end(), [&](const Operation& operation) {
      return is_independent(launch_.kernel, operation);
    });
  }

  unsigned processors() {
    const uint64_t work = schedule_.runs() * count(launch_.cluster) * count(launch_.block) *
                          launch_.kernel.code.size();
    if (launch_.hooks != nullptr && launch_.hooks->needs_order()) return 1;
    if (work < kLarge || (settings_.seed != 0 && !settings_.spreads)) return 1;
    each_for_itself_ = blocks_are_independent();
    // With a tool, blocks that access each other's memory run in order, so that every run has the
    // same reports.
    const bool is_ordered = settings_.seed != 0 || launch_.hooks != nullptr || !kStoresInOrder;
    if (is_ordered && !each_for_itself_) return 1;
    return std::max(1u, std::thread::hardware_concurrency());
  }

  bool start_one(std::deque<Begun>* live, std::vector<std::unique_ptr<Cluster>>* idle) {
    uint3 index;
    uint64_t random, number;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (schedule_.done() || end_ != kNoEnd) return false;
      index = schedule_.take();
      random = schedule_.random();
      number = begun_++;
    }
    if (idle->empty()) idle->push_back(std::make_unique<Cluster>(launch_));
    live->push_front({std::move(idle->back()), number, 0});
    idle->pop_back();
    live->front().cluster->start(index, random);
    return true;
  }

  void run_blocks() {
    const DefaultFloatingPoint mode;
    std::deque<Begun> live;  // the block that runs next is at the front
    std::vector<std::unique_ptr<Cluster>> idle;
    for (;;) {
      while (!live.empty() && live.front().number >= end_) live.pop_front();
      if (live.empty() && !start_one(&live, &idle)) return;
      Begun current = std::move(live.front());
      live.pop_front();
      try {
        const Block::Stop reason = current.cluster->run();
        note_left_out(*current.cluster);
        if (reason == Block::Stop::kEnded) {
          idle.push_back(std::move(current.cluster));
          threads_passed.add();
          continue;
        }
        if (continues(current.cluster->first_block()) && ++current.turns % kTurnsInARow != 0) {
          live.push_front(std::move(current));
          continue;
        }
      } catch (const Fault& fault) {
        note_left_out(*current.cluster);
        stop(fault, current.number);
        continue;
      }
      live.push_back(std::move(current));
      if (live.size() < most_) start_one(&live, &idle);
    }
  }

  // Stops blocks after a fault of block `number`. Independent blocks with a lower number continue,
  // so that the fault of the block with the lowest number is reported in every run.
  void stop(const Fault& fault, uint64_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number >= end_) return;
    // If an access was left out earlier, this fault may be its consequence: the fault of the first
    // left-out access remains the result.
    if (!has_left_out_) result_ = {schedule_.with_seed(fault.sentence), fault.error, fault.tool};
    end_ = each_for_itself_ ? number : 0;
  }

  void note_left_out(const Cluster& cluster) {
    for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
      const std::unique_ptr<Fault> fault = std::move(cluster.block(rank).left_out);
      if (fault == nullptr) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (std::exchange(has_left_out_, true)) continue;
      result_ = {schedule_.with_seed(fault->sentence), fault->error, fault->tool};
    }
  }

  // Returns whether a block that yielded continues before other blocks run. Independent blocks run
  // one after the other: threads then end earlier, which counts as progress. Throws a Fault if the
  // kernel does not end.
  bool continues(const Block& block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string text = schedule_.livelock_report();
    const bool is_stalled = schedule_.is_stalled();
    if (text.empty() && !is_stalled) {
      if (!runs_on_.has_value()) runs_on_ = settings_.seed == 0 && blocks_are_independent();
      return *runs_on_;
    }
    if (text.empty()) {
      char stalled[128];
      std::snprintf(stalled, sizeof(stalled),
                    "does not end: for %g seconds no thread has ended, synchronised with others or "
                    "changed memory by an atomic",
                    settings_.watchdog);
      text = stalled;
    }
    const Running running = block.running();
    throw Fault{location_text(block, running.thread) + text +
                    line_text(block, launch_.kernel.code[running.pc]),
                cudaErrorLaunchFailure, "program"};
  }

  const Launch& launch_;
  const Settings& settings_;
  Schedule schedule_;
  const size_t most_;
  bool each_for_itself_ = false;
  std::optional<bool> runs_on_;  // result of continues(), once computed
  bool has_left_out_ = false;    // whether a tool left out an invalid access
  std::mutex mutex_;
  uint64_t begun_ = 0;                 // number of started blocks
  std::atomic<uint64_t> end_{kNoEnd};  // blocks from this number on do not continue
  PtxResult result_;
};

}  // namespace

unsigned processors_of_last_grid() { return last_processors; }

PtxResult run_grid(const Launch& launch, bool all_at_once, const Settings& settings) {
  return GridRun(launch, all_at_once, settings).run();
}

}  // namespace kernkit::simulator::ptx
