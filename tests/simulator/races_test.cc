// SPDX-License-Identifier: Apache-2.0
// Races between CUDA threads, blocks and streams, found by ThreadSanitizer, with which this file is
// compiled. Grids are small: for the detector each thread of a block, and each block, is a thread.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernkit/simulator/runtime.h"

// The simulator's options of ThreadSanitizer, and exitcode=0, so that expected races do not fail
// the program.
extern "C" const char* __tsan_default_options() {
  return "suppress_equal_addresses=0:suppress_equal_stacks=0:history_size=4:exitcode=0";
}

namespace kernels {

template <bool kBarrier>
__global__ void reverse(int* y, const int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  if (kBarrier) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
template <bool kSync>
__global__ void in_a_warp(int* y) {
  __shared__ int tile[32];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kSync) {
    __syncwarp();
  } else {
    (void)__any_sync(0xffffffffu, 1);  // orders nothing
  }
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
template <bool kAtomic>
__global__ void sum(int* total) {
  if (kAtomic) {
    atomicAdd(total, 1);
  } else if (threadIdx.x == 0) {
    *total += 1;
  }
}
// The last block to finish reads the results of the other blocks, which is a race without fences.
template <bool kFence>
__global__ void last_block(int* total, int* parts, int* count) {
  parts[blockIdx.x] = static_cast<int>(blockIdx.x);
  if (kFence) __threadfence();
  if (atomicAdd(count, 1) == static_cast<int>(gridDim.x) - 1) {
    if (kFence) __threadfence();
    for (unsigned i = 0; i < gridDim.x; ++i) *total += parts[i];
  }
}
// Only one of the threads of a block works. The other threads end early, so that the block's OS
// thread becomes free early.
__global__ void one_thread(int* x, int* count) {
  if (threadIdx.x == 0) x[blockIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) atomicAdd(count + blockIdx.x, 1);
}
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

}  // namespace kernels

namespace kernkit::simulator {
namespace {

class Races : public ::testing::Test {
 protected:
  Races() { runtime_.run_kernels(true); }
  template <class... Params, class... Arguments>
  void launch(void (*kernel)(Params...), unsigned grid, unsigned block, cudaStream_t stream,
              Arguments... arguments) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    ASSERT_EQ(cudaLaunchKernelEx(&config, kernel, arguments...), cudaSuccess);
  }
  int* memory(size_t count) {
    int* pointer = nullptr;
    cudaMalloc(&pointer, count * sizeof(int));
    cudaMemset(pointer, 0, count * sizeof(int));
    cudaDeviceSynchronize();
    return pointer;
  }
  size_t races() {
    cudaDeviceSynchronize();
    return runtime_.races();
  }
  CudaRuntime runtime_;
};

TEST_F(Races, BarrierOfABlock) {
  launch(kernels::reverse<true>, 1, 64, nullptr, memory(64), memory(64));
  EXPECT_EQ(races(), 0u);
  launch(kernels::reverse<true>, 2, 64, nullptr, memory(64), memory(64));
  EXPECT_GT(races(), 0u) << "both blocks write to y";
}

TEST_F(Races, MissingBarrier) {
  launch(kernels::reverse<false>, 1, 64, nullptr, memory(64), memory(64));
  EXPECT_GT(races(), 0u);
}

TEST_F(Races, BarrierOfAWarp) {
  launch(kernels::in_a_warp<true>, 1, 32, nullptr, memory(32));
  EXPECT_EQ(races(), 0u);
}

TEST_F(Races, MissingBarrierOfAWarp) {
  launch(kernels::in_a_warp<false>, 1, 32, nullptr, memory(32));
  EXPECT_GT(races(), 0u);
}

TEST_F(Races, Atomics) {
  launch(kernels::sum<true>, 4, 8, nullptr, memory(1));
  EXPECT_EQ(races(), 0u);
}

TEST_F(Races, BlocksWithoutAtomics) {
  launch(kernels::sum<false>, 4, 8, nullptr, memory(1));
  EXPECT_GT(races(), 0u);
}

TEST_F(Races, Fences) {
  launch(kernels::last_block<true>, 4, 1, nullptr, memory(1), memory(4), memory(1));
  EXPECT_EQ(races(), 0u);
}

TEST_F(Races, MissingFences) {
  launch(kernels::last_block<false>, 4, 1, nullptr, memory(1), memory(4), memory(1));
  EXPECT_GT(races(), 0u);
}

// The runtime's accesses to its own memory are not reported as races of kernels, in whatever order
// blocks end.
TEST_F(Races, BlocksThatEndInAnyOrder) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    runtime_.set_seed(seed);
    launch(kernels::one_thread, 8, 128, nullptr, memory(8), memory(8));
    ASSERT_EQ(races(), 0u) << "seed " << seed;
  }
}

TEST_F(Races, KernelsOfAStreamAndTheHost) {
  int* x = memory(8);
  launch(kernels::fill, 1, 8, nullptr, x, 1);
  launch(kernels::fill, 1, 8, nullptr, x, 2);
  int copy[8];
  cudaMemcpy(copy, x, sizeof(copy), cudaMemcpyDeviceToHost);
  EXPECT_EQ(copy[7], 2);
  cudaFree(x);
  EXPECT_EQ(races(), 0u);
}

// A host function races with kernels only if it is enqueued on another stream.
TEST_F(Races, FunctionsOfTheHost) {
  for (const bool ordered : {true, false}) {
    void* x = nullptr;
    cudaMallocHost(&x, 8 * sizeof(int));
    cudaStream_t a = nullptr, b = nullptr;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    launch(kernels::fill, 1, 8, a, static_cast<int*>(x), 1);
    cudaLaunchHostFunc(
        ordered ? a : b, [](void* data) { ++*static_cast<int*>(data); }, x);
    launch(kernels::fill, 1, 8, ordered ? a : b, static_cast<int*>(x), 2);
    EXPECT_EQ(races() == 0, ordered);
  }
}

// Only the edges of a graph order the graph's nodes; the order of capture does not.
TEST_F(Races, BranchesOfAGraph) {
  for (const bool joined : {true, false}) {
    const size_t before = races();
    cudaStream_t a = nullptr, b = nullptr;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEvent_t fork = nullptr, join = nullptr;
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    int* x = memory(8);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal), cudaSuccess);
    launch(kernels::fill, 1, 8, a, x, 1);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork);
    launch(kernels::fill, 1, 8, b, x, 2);
    cudaEventRecord(join, b);
    if (joined) cudaStreamWaitEvent(a, join);
    launch(kernels::fill, 1, 8, a, x, 3);
    if (!joined) cudaStreamWaitEvent(a, join);
    launch(kernels::fill, 1, 8, a, x, 4);
    ASSERT_EQ(cudaStreamEndCapture(a, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    for (int round = 0; round < 2; ++round) cudaGraphLaunch(exec, a);
    launch(kernels::fill, 1, 8, a, x, 5);
    EXPECT_EQ(races() == before, joined);
  }
}

TEST_F(Races, Streams) {
  for (const bool ordered : {true, false}) {
    int* x = memory(8);
    cudaStream_t a = nullptr, b = nullptr;
    cudaEvent_t event = nullptr;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&event);
    launch(kernels::fill, 1, 8, a, x, 1);
    cudaEventRecord(event, a);
    if (ordered) cudaStreamWaitEvent(b, event, 0);
    launch(kernels::fill, 1, 8, b, x, 2);
    EXPECT_EQ(races() == 0, ordered);
  }
}

}  // namespace
}  // namespace kernkit::simulator
