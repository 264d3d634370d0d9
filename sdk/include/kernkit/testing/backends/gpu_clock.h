// SPDX-License-Identifier: Apache-2.0
// Measures times on a GPU by events of a stream. The caches contain no data of the measured work.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "kernkit/cuda/check.h"

namespace kernkit::testing {

/// An event that records a time. Use an object in one thread at a time.
class GpuEvent {
 public:
  /// Creates an event of the current device, which has not been recorded. Throws RuntimeError if
  /// CUDA fails.
  GpuEvent() { KERNKIT_CUDA_CHECK(cudaEventCreate(&event_)); }
  /// Destroys the event without waiting for a record in progress (cudaEventDestroy), ignoring
  /// errors of CUDA. Throws nothing.
  ~GpuEvent() { (void)cuda::succeeded(cudaEventDestroy(event_)); }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  /// Records the event in the stream, a stream of the event's device, after the earlier work of the
  /// stream, without waiting; replaces an earlier record. Throws RuntimeError if CUDA fails.
  void record(cudaStream_t stream) const { KERNKIT_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  /// Returns the time from the last record of `start` to the last record of this event [seconds],
  /// in float32 precision (cudaEventElapsedTime). Does not wait. Throws RuntimeError if one of the
  /// events was not recorded or its record has not completed, or if CUDA reports another error.
  double seconds_since(const GpuEvent& start) const {
    float milliseconds = 0;
    KERNKIT_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) / 1000;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream, and memory of twice the size of the second-level cache of device 0. The stream and the
/// memory are never released. Use an object in one thread at a time, with device 0 current.
class GpuClock {
 public:
  /// Creates the stream and allocates the memory on the current device, which must be device 0.
  /// Throws RuntimeError if CUDA fails.
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

  /// Returns the times on the GPU of `count` >= 0 calls of launch(stream()) [seconds], in order.
  /// `launch` enqueues its work in the stream without waiting. Before each call the stream
  /// overwrites the memory, so that the second-level cache holds no data of the call; a time
  /// includes the time that `launch` takes on the host only if that time exceeds the time of the
  /// overwriting. The host waits once, after all calls. Throws RuntimeError if CUDA fails,
  /// std::length_error for a negative count, std::bad_alloc, and the exceptions of `launch`.
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

/// Returns the clock of the program, which the first call creates on the current device; device 0
/// must be current. The clock is never destroyed: at the end of the program the driver may be
/// unloaded. Throws RuntimeError if CUDA fails while the clock is created; the next call then tries
/// again. Safe from any thread.
inline const GpuClock& gpu_clock() {
  static const auto* clock = new GpuClock;
  return *clock;
}

}  // namespace kernkit::testing
