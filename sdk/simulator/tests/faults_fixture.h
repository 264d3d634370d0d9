// SPDX-License-Identifier: Apache-2.0
// Launches a kernel that has a fault and returns the report.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "kernkit/simulator/runtime.h"

namespace kernkit::simulator {

class CudaFaults : public ::testing::Test {
 protected:
  CudaFaults() { runtime_.run_kernels(true); }

  template <class... Params, class... Arguments>
  cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared_memory,
                     Arguments... arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_memory;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
  }
  template <class T>
  T* memory(size_t count) {
    T* pointer = nullptr;
    cudaMalloc(&pointer, count * sizeof(T));
    return pointer;
  }
  std::string fault() { return runtime_.faults().empty() ? "none" : runtime_.faults()[0]; }

  CudaRuntime runtime_;
};
class CudaFaultsDeathTest : public CudaFaults {
 protected:
  // A child of fork() cannot use CUDA, so a death test starts the program again.
  CudaFaultsDeathTest() { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

}  // namespace kernkit::simulator
