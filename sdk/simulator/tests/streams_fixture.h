// SPDX-License-Identifier: Apache-2.0
// Streams whose kernels write a log of the order in which the kernels ran.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernkit/simulator/runtime.h"

namespace kernels {
inline __global__ void append(std::string* log, char letter) { *log += letter; }
}  // namespace kernels

namespace kernkit::simulator {

/// A host function that returns when the std::atomic<bool> at `flag` is set.
inline void wait_for_flag(void* flag) {
  while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
}

class CudaStreams : public ::testing::Test {
 protected:
  void start(unsigned seed, size_t devices = 1) {
    runtime_.~CudaRuntime();
    new (&runtime_) CudaRuntime(std::vector<CudaDevice>(devices));
    runtime_.run_kernels(true);
    runtime_.set_seed(seed);
    log_.clear();
  }
  static cudaStream_t stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t created = nullptr;
    cudaStreamCreateWithFlags(&created, flags);
    return created;
  }
  static cudaEvent_t event() {
    cudaEvent_t created = nullptr;
    cudaEventCreate(&created);
    return created;
  }
  void append(cudaStream_t stream, char letter) {
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = 1;
    config.stream = stream;
    EXPECT_EQ(cudaLaunchKernelEx(&config, kernels::append, &log_, letter), cudaSuccess);
  }
  // Runs `work` with the seeds 1 to 40, and returns the set of logs.
  template <class Work>
  std::set<std::string> logs(const Work& work) {
    std::set<std::string> all;
    for (unsigned seed = 1; seed <= 40; ++seed) {
      start(seed);
      work();
      all.insert(log_);
    }
    return all;
  }

  CudaRuntime runtime_;
  std::string log_;
};
using Logs = std::set<std::string>;

}  // namespace kernkit::simulator
