// SPDX-License-Identifier: Apache-2.0
// Times on a GPU, by events of a stream, with caches that hold none of the data.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "kernkit/cuda/check.h"

namespace kernkit::testing {

/// An event that records a time.
class GpuEvent {
 public:
  /// Creates an event of the current device. Throws RuntimeError if CUDA fails.
  GpuEvent() { KERNKIT_CUDA_CHECK(cudaEventCreate(&event_)); }
  /// Destroys the event, ignoring errors of CUDA. Never throws.
  ~GpuEvent() { (void)cuda::succeeded(cudaEventDestroy(event_)); }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  /// Records the event in the stream after its earlier work, without waiting. Throws RuntimeError
  /// if CUDA fails.
  void record(cudaStream_t stream) const { KERNKIT_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  /// Returns the time from `start` to this event [seconds], without waiting: both events have
  /// happened, otherwise CUDA fails. Throws RuntimeError if CUDA fails.
  double seconds_since(const GpuEvent& start) const {
    float milliseconds = 0;
    KERNKIT_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) / 1000;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of the current device, and memory of twice the size of its second-level cache.
/// Functions throw RuntimeError if CUDA fails.
class GpuClock {
 public:
  /// Creates the stream and allocates the memory on the current device; the size is that of device
  /// 0's cache. Throws RuntimeError if CUDA fails.
  GpuClock() {
    int cache = 0;
    KERNKIT_CUDA_CHECK(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0));
    bytes_ = 2 * static_cast<size_t>(cache);
    KERNKIT_CUDA_CHECK(cudaMalloc(&memory_, bytes_));
    KERNKIT_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// Returns the stream whose work the clock measures, which does not synchronise with the default
  /// stream; valid as long as the clock. Throws nothing.
  cudaStream_t stream() const { return stream_; }

  /// Returns the times of `count` calls of launch(stream()) [seconds], in order; none for 0.
  /// `launch` enqueues its work in the stream without waiting. The second-level cache is
  /// overwritten before each call, which takes longer than the host takes to enqueue the call. The
  /// host waits once, for all calls. Throws RuntimeError if CUDA fails, and the exceptions of
  /// `launch`.
  template <class Launch>
  std::vector<double> cold_seconds(int count, const Launch& launch) const {
    const std::vector<GpuEvent> starts(static_cast<size_t>(count)), ends(starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      KERNKIT_CUDA_CHECK(cudaMemsetAsync(memory_, 1, bytes_, stream_));
      starts[i].record(stream_);
      launch(stream_);
      ends[i].record(stream_);
    }
    KERNKIT_CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::vector<double> times;
    for (size_t i = 0; i < starts.size(); ++i) times.push_back(ends[i].seconds_since(starts[i]));
    return times;
  }

 private:
  size_t bytes_ = 0;
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Returns the clock of the program, which the first call creates on the current device. The clock
/// is never destroyed: at the end of the program the driver may be unloaded. The first call throws
/// RuntimeError if CUDA fails. Safe from any thread.
inline const GpuClock& gpu_clock() {
  static const auto* clock = new GpuClock;
  return *clock;
}

}  // namespace kernkit::testing
