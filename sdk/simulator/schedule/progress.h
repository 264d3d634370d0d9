// SPDX-License-Identifier: Apache-2.0
// Progress of the running kernel. The threads of a process run kernels one at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace kernkit::simulator {

/// A counter of steps towards the end of a kernel; another OS thread may read the counter.
class Progress {
 public:
  void add() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};
/// The number of CUDA threads that started or ended.
inline Progress threads_passed;
/// The number of synchronisations of lanes or threads, and of atomics that changed memory.
inline Progress steps_passed;

/// The factor of the time limit for threads that keep running, which may be in an endless loop.
inline constexpr double kCircles = 15;

/// Measures the time since a counter changed, for a caller that queries often. At most `most`
/// seconds count between two queries, because the process may have been stopped in between.
class StallTimer {
 public:
  explicit StallTimer(double most) : most_(most) {}
  /// Returns the time since `count` changed [s].
  double stalled_for(uint64_t count) {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> since = now - queried_;
    stalled_ = count == count_ ? stalled_ + std::min(since.count(), most_) : 0;
    count_ = count;
    queried_ = now;
    return stalled_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double most_;
  uint64_t count_ = UINT64_MAX;
  double stalled_ = 0;
  Clock::time_point queried_ = Clock::now();
};

}  // namespace kernkit::simulator
