// SPDX-License-Identifier: Apache-2.0
// What kernels do wrong, and what is said about it: each kernel here has a fault.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <chrono>

#include "kernkit/cuda/dynamic_shared.h"
#include "kernkit/cuda_on_cpu/runtime.h"
#include "sanitizers.h"

#undef NDEBUG
#include <assert.h>

namespace faulty {

__global__ void early_return(float* x, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  __syncthreads();
  x[threadIdx.x] = 1;
}
__global__ void one_branch(float* x) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    x[threadIdx.x] = static_cast<float>(__syncthreads_or(1));
  }
}
__global__ void warp_and_block(int* x) {
  if (threadIdx.x == 5) {
    __syncthreads();
  } else {
    x[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  }
}
__global__ void lacks_itself(int* x) { x[threadIdx.x] = __shfl_xor_sync(0xffffu, 1, 16); }
__global__ void two_masks(int* x) {
  x[threadIdx.x] = __shfl_sync(threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u, 1, 31);
}
__global__ void two_functions(int* x) {
  x[threadIdx.x] =
      threadIdx.x < 16 ? __shfl_up_sync(0xffffffffu, 1, 1) : __shfl_down_sync(0xffffffffu, 1, 1);
}
__global__ void half_a_warp(int* x) {
  if (threadIdx.x < 16) x[threadIdx.x] = __ballot_sync(0xffffffffu, 1) != 0;
  if (threadIdx.x == 20) __syncthreads();
}
__global__ void waits_forever(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}
__global__ void spins_on_memory(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void meets_forever(volatile int* flag) {
  while (*flag == 0) __syncthreads();
}
__global__ void gives_up() {
  if (blockIdx.y == 1 && threadIdx.x == 2) __trap();
}
__global__ void past_the_end(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) x[i] = 1;
}
__global__ void past_shared(float* x) {
  float* memory = kernkit::cuda::dynamic_shared<float>();
  memory[threadIdx.x] = 1;
  x[threadIdx.x] = memory[threadIdx.x];
}
// By a pointer: UndefinedBehaviorSanitizer knows the size of the array itself.
__global__ void past_static(float* x) {
  __shared__ float before[3], tile[64];
  float* end = &tile[threadIdx.x] + 1;
  *end = before[0] = 1;
  x[threadIdx.x] = tile[threadIdx.x];
}
__global__ void asserts(int n) {
  const auto i = static_cast<int>(threadIdx.x);
  assert(i < n);
}
__global__ void misaligned(float4* x, const float* y) {
  const auto* four = reinterpret_cast<const float4*>(y + 1);
#if defined(__clang__)
  x[0].w = four->w;  // where the whole is copied clang++ does not look
#else
  x[0] = *four;
#endif
}
// The last threads' elements of the tile are never written.
__global__ void unwritten_shared(int* x, int n) {
  __shared__ int tile[64];
  if (static_cast<int>(threadIdx.x) < n) tile[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void unwritten_dynamic(int* x) {
  x[threadIdx.x] = kernkit::cuda::dynamic_shared<int>()[threadIdx.x];
}
__global__ void unwritten_global(int* x, const int* y) { x[threadIdx.x] = y[threadIdx.x]; }

// The sum of a block, round by round: a warp stores the next round's while others read this one's.
template <bool kSecondBarrier>
__global__ void sums_of_rounds(int* sums, const int* x, int rounds) {
  __shared__ int of_warps[4];
  for (int round = 0; round < rounds; ++round) {
    const int sum = __reduce_add_sync(0xffffffffu, x[round]);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    const int total = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
    const int same = __shfl_sync(0xffffffffu, total, 0);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[round], same);
    if (kSecondBarrier) __syncthreads();
  }
}

}  // namespace faulty

// No fault: they only take long.
namespace slow {

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}
// A block waits for those behind it, and takes a while itself.
__global__ void last_block_first(int* done) {
  const auto behind = static_cast<int>(gridDim.x - 1 - blockIdx.x);
  while (atomicAdd(done, 0) != behind) {
  }
  for (const double begin = now(); now() < begin + 0.01;) {
  }
  atomicAdd(done, 1);
}
__global__ void many_rounds(double until) {
  __shared__ bool over;
  do {
    __syncthreads();
    if (threadIdx.x == 0) over = now() > until;
    __syncthreads();
  } while (!over);
}
__global__ void many_atomics(int* x, double until) {
  while (now() < until) atomicAdd(x, 1);
}

}  // namespace slow

namespace kernkit::cuda_on_cpu {
namespace {

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

TEST_F(CudaFaults, BarrierNotReachedByAll) {
  launch(faulty::early_return, 1, 128, 0, memory<float>(128), 96);
  EXPECT_EQ(fault(),
            "faulty::early_return: block [0, 0, 0], thread [0, 0, 0]: 96 of the block's 128 "
            "threads wait at __syncthreads() and thread [96, 0, 0] has ended");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

TEST_F(CudaFaults, BarriersOfTwoKinds) {
  launch(faulty::one_branch, 1, 64, 0, memory<float>(64));
  EXPECT_EQ(fault(),
            "faulty::one_branch: block [0, 0, 0], thread [32, 0, 0]: __syncthreads_or() meets "
            "threads of the block at __syncthreads()");
}

TEST_F(CudaFaults, LaneElsewhere) {
  launch(faulty::warp_and_block, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::warp_and_block: block [0, 0, 0], thread [0, 0, 0]: 31 of the block's 32 "
            "threads wait at __shfl_sync() and thread [5, 0, 0] waits at __syncthreads()");
}

TEST_F(CudaFaults, MaskWithoutTheCaller) {
  launch(faulty::lacks_itself, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::lacks_itself: block [0, 0, 0], thread [16, 0, 0]: __shfl_xor_sync(): the mask "
            "0x0000ffff lacks the calling lane 16");
}

TEST_F(CudaFaults, MasksThatDiffer) {
  launch(faulty::two_masks, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::two_masks: block [0, 0, 0], thread [31, 0, 0]: has ended, and lanes with the "
            "mask 0xffffffff wait for it at __shfl_sync()");
}

TEST_F(CudaFaults, FunctionsThatDiffer) {
  launch(faulty::two_functions, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::two_functions: block [0, 0, 0], thread [16, 0, 0]: __shfl_down_sync(): lane "
            "16 calls it with mask 0xffffffff, and another lane, whose mask names this one, calls "
            "__shfl_up_sync() with mask 0xffffffff");
}

TEST_F(CudaFaults, LanesThatNeverCome) {
  launch(faulty::half_a_warp, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::half_a_warp: block [0, 0, 0], thread [0, 0, 0]: 16 of the block's 32 threads "
            "wait at __ballot_sync() and thread [16, 0, 0] has ended");
}

TEST_F(CudaFaults, WaitsForever) {
  runtime_.set_watchdog(0.05);
  int flag = 0;
  launch(faulty::waits_forever, 2, 3, 0, &flag);
  EXPECT_EQ(fault().find("faulty::waits_forever: block ["), 0u) << fault();
  EXPECT_NE(fault().find("does not end: 3 threads of the block wait in a loop"), std::string::npos)
      << fault();
}

// All threads meet, and none ends.
TEST_F(CudaFaults, MeetsForever) {
  runtime_.set_watchdog(0.02);
  int flag = 0;
  launch(faulty::meets_forever, 1, 4, 0, static_cast<volatile int*>(&flag));
  EXPECT_EQ(fault().find("faulty::meets_forever: block [0, 0, 0], thread ["), 0u) << fault();
  EXPECT_NE(fault().find("does not end: its threads go on, and for 0.3 seconds none has begun or "
                         "ended"),
            std::string::npos)
      << fault();
}

// Time counts in which nothing goes on, not all of a kernel's.
TEST_F(CudaFaults, TakesLong) {
  runtime_.set_watchdog(0.06);
  int done = 0;
  launch(slow::last_block_first, 30, 1, 0, &done);
  EXPECT_EQ(fault(), "none");
  launch(slow::many_atomics, 1, 1, 0, &done, slow::now() + 0.2);
  EXPECT_EQ(fault(), "none");
  launch(slow::many_rounds, 1, 4, 0, slow::now() + 0.75);
  EXPECT_EQ(fault(), "none");
}

TEST_F(CudaFaults, Trap) {
  launch(faulty::gives_up, {1, 2}, 4, 0);
  EXPECT_EQ(fault(), "faulty::gives_up: block [0, 1, 0], thread [2, 0, 0]: __trap()");
}

TEST_F(CudaFaults, Assert) {
  launch(faulty::asserts, 2, 4, 0, 3);
  EXPECT_EQ(
      fault().find("faulty::asserts: block [0, 0, 0], thread [3, 0, 0]: assert(i < n) failed, "
                   "faults_test.cc:"),
      0u)
      << fault();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
}

TEST_F(CudaFaults, SaysTheSeed) {
  runtime_.set_seed(7);
  launch(faulty::gives_up, {1, 2}, 4, 0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(fault(), "faulty::gives_up: block [0, 1, 0], thread [2, 0, 0]: __trap() (seed 7)");
}

TEST_F(CudaFaults, FaultsEndTheKernelAlone) {
  launch(faulty::gives_up, {1, 2}, 4, 0);
  runtime_.~CudaRuntime();
  new (&runtime_) CudaRuntime;
  runtime_.run_kernels(true);
  int x[64] = {};
  launch(faulty::unwritten_shared, 1, 64, 0, static_cast<int*>(x), 64);
  EXPECT_EQ(x[0] + x[63], 2);
  EXPECT_EQ(fault(), "none");
}

// A kernel whose result depends on memory that nobody wrote gives another one with another poison.
TEST_F(CudaFaults, MemoryThatNobodyWrote) {
  int results[3][2];
  for (const int run : {0, 1}) {
    runtime_.set_poison(run == 0 ? 0xcd : 0x11);
    int x[64] = {};
    launch(faulty::unwritten_shared, 1, 64, 0, static_cast<int*>(x), 60);
    results[0][run] = x[0];
    EXPECT_EQ(x[63], 1);
    launch(faulty::unwritten_dynamic, 1, 64, 256, static_cast<int*>(x));
    results[1][run] = x[5];
    launch(faulty::unwritten_global, 1, 64, 0, static_cast<int*>(x),
           static_cast<const int*>(memory<int>(64)));
    results[2][run] = x[5];
  }
  EXPECT_NE(results[0][0], results[0][1]) << "__shared__";
  EXPECT_NE(results[1][0], results[1][1]) << "dynamic shared memory";
  EXPECT_NE(results[2][0], results[2][1]) << "global memory";
}

// Seen under some seed, as nothing is where nothing is missing.
TEST_F(CudaFaults, SecondBarrierMissing) {
  int x[] = {1, 2, 3, 4};
  for (const bool barrier : {true, false}) {
    int wrong = 0;
    for (unsigned seed = 1; seed <= 16; ++seed) {
      runtime_.set_seed(seed);
      int sums[4] = {};
      launch(barrier ? faulty::sums_of_rounds<true> : faulty::sums_of_rounds<false>, 1, 128, 0,
             static_cast<int*>(sums), static_cast<const int*>(x), 4);
      cudaDeviceSynchronize();
      for (int round = 0; round < 4; ++round) wrong += sums[round] != 4 * 128 * x[round] ? 1 : 0;
    }
    EXPECT_EQ(wrong == 0, barrier) << wrong << " sums";
  }
}

using CudaFaultsDeathTest = CudaFaults;

TEST_F(CudaFaultsDeathTest, SpinsOnMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  runtime_.set_watchdog(0.05);
  int flag = 0;
  EXPECT_DEATH(launch(faulty::spins_on_memory, 1, 1, 0, static_cast<volatile int*>(&flag)),
               "kernel faulty::spins_on_memory does not end; a loop that waits for another thread");
}

#if defined(TEST_WITH_ASAN)

TEST_F(CudaFaultsDeathTest, PastAnAllocation) {
  float* x = memory<float>(100);
  EXPECT_DEATH(launch(faulty::past_the_end, 4, 32, 0, x, 100),
               "in kernel faulty::past_the_end: block \\[3, 0, 0\\], thread \\[4, 0, 0\\]");
}

// One that exists where it is touched.
TEST_F(CudaFaultsDeathTest, PastALargeAllocation) {
  runtime_.~CudaRuntime();
  CudaDevice large;
  large.memory = size_t{1} << 40;
  new (&runtime_) CudaRuntime({large});
  runtime_.run_kernels(true);
  constexpr size_t kSize = (size_t{1} << 36) + 100;
  float* x = memory<float>(kSize);
  launch(faulty::past_the_end, 1, 32, 0, x + (kSize - 28), 27);
  EXPECT_EQ(fault(), "none");
  EXPECT_DEATH(launch(faulty::past_the_end, 1, 32, 0, x + (kSize - 28), 28),
               "in kernel faulty::past_the_end: block \\[0, 0, 0\\], thread \\[28, 0, 0\\]");
  cudaFree(x);
}

// Kernels alone may not touch what is closed, and from then on in the stream.
TEST_F(CudaFaultsDeathTest, WhatIsClosedToKernels) {
  runtime_.set_seed(1);
  float* x = memory<float>(100);
  launch(faulty::past_the_end, 4, 32, 0, x, 99);
  kernkit_close_to_kernels(x + 90, 10 * sizeof(float), nullptr);
  launch(faulty::past_the_end, 3, 32, 0, x, 89);
  float copied[100];
  EXPECT_EQ(cudaMemset(x, 1, 100 * sizeof(float)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(copied, x, sizeof(copied), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(fault(), "none");
  const auto past = [&] {
    launch(faulty::past_the_end, 3, 32, 0, x, 90);
    cudaDeviceSynchronize();
  };
  EXPECT_DEATH(past(),
               "in kernel faulty::past_the_end: block \\[2, 0, 0\\], thread \\[26, 0, 0\\]");
  kernkit_open_to_kernels(x, nullptr);
  past();
  EXPECT_EQ(fault(), "none");
  cudaFree(x);
}

TEST_F(CudaFaultsDeathTest, PastSharedMemory) {
  float* x = memory<float>(64);
  EXPECT_DEATH(launch(faulty::past_shared, 1, 64, 63 * sizeof(float), x),
               "in kernel faulty::past_shared: block \\[0, 0, 0\\], thread \\[63, 0, 0\\]");
}

TEST_F(CudaFaultsDeathTest, PastAStaticSharedArray) {
  float* x = memory<float>(64);
  EXPECT_DEATH(launch(faulty::past_static, 1, 64, 0, x),
               "in kernel faulty::past_static: block \\[0, 0, 0\\], thread \\[63, 0, 0\\]");
}

TEST_F(CudaFaultsDeathTest, UseAfterFree) {
  float* x = memory<float>(100);
  cudaFree(x);
  EXPECT_DEATH(launch(faulty::past_the_end, 4, 32, 0, x, 99), "heap-use-after-free");
}

TEST_F(CudaFaultsDeathTest, HostTouchesDeviceMemory) {
  volatile float* x = memory<float>(4);
  EXPECT_DEATH(x[0] = 1, "use-after-poison");
}

TEST_F(CudaFaultsDeathTest, MisalignedVector) {
  float4* x = memory<float4>(1);
  const float* y = memory<float>(8);
  EXPECT_DEATH(launch(faulty::misaligned, 1, 1, 0, x, y), "misaligned address");
}

#endif

}  // namespace
}  // namespace kernkit::cuda_on_cpu
