// SPDX-License-Identifier: Apache-2.0
// Progress: whether the running kernel goes on. The threads of a process that run kernels do so one
// at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace kernkit::simulator {

/// Counts what brings a kernel nearer to its end; another OS thread may read it.
class Progress {
 public:
  void add() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};
/// CUDA threads that began, or ended.
inline Progress threads_passed;
/// Lanes or threads that met, atomics that changed memory.
inline Progress steps_passed;

/// Threads that go on may do so in a circle: they have so many times as long to end.
inline constexpr double kCircles = 15;

/// For how long a count has stood still, as who asks often sees it. Of the time between two
/// questions no more than `most` counts: a process that was stopped meanwhile could not go on.
class StallTimer {
 public:
  explicit StallTimer(double most) : most_(most) {}
  /// Seconds.
  double of(uint64_t count) {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> since = now - asked_;
    still_ = count == count_ ? still_ + std::min(since.count(), most_) : 0;
    count_ = count;
    asked_ = now;
    return still_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  double most_;
  uint64_t count_ = UINT64_MAX;
  double still_ = 0;
  Clock::time_point asked_ = Clock::now();
};

}  // namespace kernkit::simulator
