// SPDX-License-Identifier: Apache-2.0
// Hold: makes a stream wait.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "kernkit/cuda/check.h"

namespace kernkit::testing {

/// Makes later work of a stream wait until release(), at most ten seconds, so that a call that
/// waits for the stream returns after this time instead of never. Launch only kernels that have run
/// before while the stream is held: loading a kernel may wait for all streams.
class Hold {
 public:
  /// Begins the hold by a host function on the stream (cudaLaunchHostFunc), without waiting. The
  /// stream must outlive the object and must not be captured. Throws RuntimeError if CUDA fails.
  explicit Hold(cudaStream_t stream) : stream_(stream) {
    KERNKIT_CUDA_CHECK(cudaLaunchHostFunc(stream_, wait, this));
  }
  /// Releases the stream and waits for the stream's work, ignoring errors of CUDA. Throws nothing.
  ~Hold() {
    release();
    (void)cuda::succeeded(cudaStreamSynchronize(stream_));
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// Lets the work of the stream run, from any thread and without waiting for the work. Throws
  /// nothing.
  void release() { released_ = true; }

 private:
  static void wait(void* self) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!static_cast<Hold*>(self)->released_ && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  cudaStream_t stream_;
  std::atomic<bool> released_{false};
};

}  // namespace kernkit::testing
