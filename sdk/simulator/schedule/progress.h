// SPDX-License-Identifier: Apache-2.0
// Progress of the running kernel. The threads of a process run kernels one at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace kernkit::simulator {

/// A counter of steps by which a kernel makes progress. Any OS thread may read the counter. Steps
/// that several OS threads add at the same time may be counted once, which is harmless: only
/// whether the counter changes is used.
class Progress {
 public:
  void add() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};
/// The number of starts and ends of CUDA threads.
inline Progress threads_passed;
/// The number of synchronisations of threads or lanes, plus the number of atomics that changed
/// memory.
inline Progress steps_passed;

/// Factor of the time limit for threads that synchronise but neither start nor end: such threads
/// may be in an endless loop or merely in a long loop.
inline constexpr double kCircles = 15;

/// Measures the time since a counter last changed, for a caller that queries the timer often. At
/// most `most` seconds count between two queries, because the process may have been stopped in
/// between. With `of_process`, at most the processor time of the process counts, since other
/// processes may use the processors.
class StallTimer {
 public:
  explicit StallTimer(double most, bool of_process = false)
      : most_(most), of_process_(of_process) {}
  /// Returns the time since `count`, the counter's present value, last changed [s].
  double stalled_for(uint64_t count) {
    const Clock::time_point now = Clock::now();
    double since = std::chrono::duration<double>(now - queried_).count();
    if (of_process_) {
      const std::clock_t used = std::clock();
      since = std::min(since, static_cast<double>(used - used_) / CLOCKS_PER_SEC);
      used_ = used;
    }
    stalled_ = count == count_ ? stalled_ + std::min(since, most_) : 0;
    count_ = count;
    queried_ = now;
    return stalled_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double most_;
  bool of_process_;
  uint64_t count_ = UINT64_MAX;
  double stalled_ = 0;
  Clock::time_point queried_ = Clock::now();
  std::clock_t used_ = std::clock();  // processor time of the process at the last query
};

}  // namespace kernkit::simulator
