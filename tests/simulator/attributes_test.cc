// SPDX-License-Identifier: Apache-2.0
// Attributes of kernels, which the runtime reads from their PTX, and their effects; graphs of such
// kernels.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernkit/simulator/runtime.h"
#include "variables.h"

namespace kernkit::simulator {
namespace {

class Attributes : public ::testing::Test {
 protected:
  Attributes() {
    runtime_.run_kernels(true);
    void* memory = nullptr;
    cudaMallocManaged(&memory, 128 * sizeof(double), cudaMemAttachGlobal);
    results_ = static_cast<double*>(memory);
    for (int i = 0; i < 128; ++i) results_[i] = i;
  }
  cudaError_t launch_much(unsigned threads, size_t shared_memory) {
    void* arguments[] = {&results_};
    return cudaLaunchKernel(kernel_that_uses_much(), 1, threads, arguments, shared_memory, nullptr);
  }
  CudaRuntime runtime_;
  double* results_ = nullptr;
};

TEST_F(Attributes, AreThoseOfThePtx) {
  cudaFuncAttributes attributes, attributes_of_other;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kernel_that_uses_much()), cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&attributes_of_other, kernel_that_uses_little()), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 96 * sizeof(double));
  EXPECT_EQ(attributes.localSizeBytes, 64 * sizeof(double));
  EXPECT_EQ(attributes.constSizeBytes, 4 * sizeof(float));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 48 * 1024 - 96 * 8);
  EXPECT_EQ(attributes.ptxVersion, 80);
  EXPECT_EQ(attributes.binaryVersion, 90);
  EXPECT_EQ(attributes_of_other.sharedSizeBytes, 0u);
  EXPECT_EQ(attributes_of_other.localSizeBytes, 0u);
  EXPECT_EQ(attributes_of_other.maxThreadsPerBlock, 96);
}

TEST_F(Attributes, LimitLaunches) {
  EXPECT_EQ(launch_use_little(results_, 96), cudaSuccess);
  EXPECT_EQ(launch_use_little(results_, 97), cudaErrorLaunchOutOfResources);
  const int most = 232448 - 96 * 8;
  EXPECT_EQ(launch_much(96, 48 * 1024 - 96 * 8), cudaSuccess);
  EXPECT_EQ(launch_much(96, 48 * 1024 - 96 * 8 + 1), cudaErrorInvalidValue);
  const auto opt_in = [&](int bytes) {
    return cudaFuncSetAttribute(kernel_that_uses_much(),
                                cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  EXPECT_EQ(opt_in(most + 1), cudaErrorInvalidValue);
  EXPECT_EQ(opt_in(most), cudaSuccess);
  EXPECT_EQ(launch_much(96, most), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Attributes, DecideHowManyBlocksAMultiprocessorHolds) {
  int blocks = -1;
  const auto occupancy = [&](const void* kernel, int threads, size_t shared_memory) {
    EXPECT_EQ(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_memory),
        cudaSuccess);
    return blocks;
  };
  EXPECT_EQ(occupancy(kernel_that_uses_little(), 96, 0), 21);
  EXPECT_EQ(occupancy(kernel_that_uses_little(), 97, 0), 0);
  // A multiprocessor has 228 KiB of shared memory. A block uses the kernel's static and dynamic
  // shared memory, and 1 KiB that is reserved.
  EXPECT_EQ(occupancy(kernel_that_uses_much(), 96, 20200), 10);
  EXPECT_EQ(occupancy(kernel_that_uses_much(), 96, 20200 - 96 * 8), 11);
  size_t available = 0;
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&available, kernel_that_uses_much(), 2, 96),
            cudaSuccess);
  EXPECT_EQ(available, 114u * 1024 - 1024 - 96 * 8);
  // In a cooperative launch all blocks must fit on the device: 10 on each of its 132
  // multiprocessors.
  void* arguments[] = {&results_};
  const auto launch = [&](unsigned grid) {
    return cudaLaunchCooperativeKernel(kernel_that_uses_much(), grid, 96, arguments, 20200,
                                       nullptr);
  };
  EXPECT_EQ(launch(132 * 10), cudaSuccess);
  EXPECT_EQ(launch(132 * 10 + 1), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Attributes, KernelsOfAGraphRunAtEachLaunch) {
  for (unsigned seed = 0; seed <= 8; ++seed) {
    runtime_.set_seed(seed);
    int calls = 0;
    ASSERT_EQ(cudaMemcpyToSymbol(symbols().calls, &calls, 4, 0, cudaMemcpyHostToDevice),
              cudaSuccess);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(launch_use_variables(results_, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(
        cudaMemcpyFromSymbolAsync(&calls, symbols().calls, 4, 0, cudaMemcpyDeviceToHost, stream),
        cudaSuccess);
    EXPECT_EQ(calls, 6) << seed;
    EXPECT_EQ(results_[1], 5) << seed;
  }
  EXPECT_TRUE(runtime_.faults().empty());
}

}  // namespace
}  // namespace kernkit::simulator
