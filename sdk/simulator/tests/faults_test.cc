// SPDX-License-Identifier: Apache-2.0
// Faults of threads that synchronise, wait or trap, and the reports. Each kernel of `faulty` has a
// fault. Faults of memory are in memory_faults_test.cc.
#include <algorithm>
#include <chrono>

#include "faults_fixture.h"

#undef NDEBUG
#include <assert.h>

namespace faulty {

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
  __syncthreads();
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
__global__ void asserts(int n) {
  const auto i = static_cast<int>(threadIdx.x);
  assert(i < n);
}
}  // namespace faulty

// Kernels without a fault: synchronisation does not wait for threads that have exited.
namespace ended {

__global__ void at_barriers(int* x, int n) {
  __shared__ int tile[96];
  const auto i = static_cast<int>(threadIdx.x);
  if (i >= n && i % 2 == 0) return;
  tile[i] = i;
  const int at_first = __syncthreads_count(1);
  if (i >= n) return;
  const int all = __syncthreads_and(i < 35), any = __syncthreads_or(i == 95);
  __syncthreads();
  x[i] = tile[n - 1 - i] + 100 * __syncthreads_count(i < 35) + 10000 * (all + 2 * any) +
         100000 * at_first;
}
__global__ void in_masks(int* x, int n) {
  const auto lane = static_cast<int>(threadIdx.x) % 32;
  const int first = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), 0);
  if (lane >= n) return;
  __syncwarp();
  x[threadIdx.x] = first + 100 * __popc(__ballot_sync(0xffffffffu, 1)) +
                   10000 * (__shfl_xor_sync(0xffffffffu, lane, 0) == lane ? 1 : 0);
}

}  // namespace ended

// Kernels without a fault that take a long time.
namespace slow {

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}
// Each block waits for all blocks with higher numbers and then takes 10 ms.
__global__ void last_block_first(int* ended) {
  const auto later = static_cast<int>(gridDim.x - 1 - blockIdx.x);
  while (atomicAdd(ended, 0) != later) {
  }
  for (const double begin = now(); now() < begin + 0.01;) {
  }
  atomicAdd(ended, 1);
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

namespace kernkit::simulator {
namespace {

TEST_F(CudaFaults, BarrierNotReachedByAll) {
  launch(faulty::warp_and_block, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::warp_and_block: block [0, 0, 0], thread [0, 0, 0]: 31 of the block's 32 "
            "threads wait at __shfl_sync() and thread [5, 0, 0] waits at __syncthreads()");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

TEST_F(CudaFaults, ThreadsThatEndedAreLeftOut) {
  int* device = memory<int>(96);
  int x[96];
  for (unsigned seed = 0; seed < 10; ++seed) {
    runtime_.set_seed(seed);
    for (const int n : {96, 64, 40, 33, 32, 1}) {
      launch(ended::at_barriers, 1, 96, 0, device, n);
      ASSERT_EQ(cudaMemcpy(x, device, sizeof(x), cudaMemcpyDefault), cudaSuccess) << fault();
      const int votes = (n <= 35 ? 1 : 0) + (n == 96 ? 2 : 0);
      const int constant = 100 * std::min(n, 35) + 10000 * votes + 100000 * (n + 48 - n / 2);
      for (int i = 0; i < n; ++i) ASSERT_EQ(x[i], n - 1 - i + constant) << i << " of " << n;
    }
    for (const int n : {32, 20, 1}) {
      launch(ended::in_masks, 1, 96, 0, device, n);
      ASSERT_EQ(cudaMemcpy(x, device, sizeof(x), cudaMemcpyDefault), cudaSuccess) << fault();
      for (int i = 0; i < 96; ++i) {
        const int expected = i / 32 * 32 + 100 * n + 10000;
        ASSERT_TRUE(i % 32 >= n || x[i] == expected) << i << " of " << n << ": " << x[i];
      }
    }
  }
}

TEST_F(CudaFaults, BarriersOfTwoKinds) {
  launch(faulty::one_branch, 1, 64, 0, memory<float>(64));
  EXPECT_EQ(fault(),
            "faulty::one_branch: block [0, 0, 0], thread [32, 0, 0]: __syncthreads_or() was called "
            "while other threads of the block wait at __syncthreads()");
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
            "faulty::two_masks: block [0, 0, 0], thread [0, 0, 0]: 16 of the block's 32 threads "
            "wait at __shfl_sync() and thread [16, 0, 0] waits at __syncthreads()");
}

TEST_F(CudaFaults, FunctionsThatDiffer) {
  launch(faulty::two_functions, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::two_functions: block [0, 0, 0], thread [16, 0, 0]: __shfl_down_sync(): "
            "called by lane 16 with mask 0xffffffff, and a lane whose mask includes lane 16 called "
            "__shfl_up_sync() with mask 0xffffffff");
}

TEST_F(CudaFaults, LanesThatNeverCome) {
  launch(faulty::half_a_warp, 1, 32, 0, memory<int>(32));
  EXPECT_EQ(fault(),
            "faulty::half_a_warp: block [0, 0, 0], thread [0, 0, 0]: 16 of the block's 32 threads "
            "wait at __ballot_sync() and thread [20, 0, 0] waits at __syncthreads()");
}

TEST_F(CudaFaults, WaitsForever) {
  runtime_.set_watchdog(0.05);
  int flag = 0;
  launch(faulty::waits_forever, 2, 3, 0, &flag);
  EXPECT_EQ(fault().find("faulty::waits_forever: block ["), 0u) << fault();
  EXPECT_NE(fault().find("does not end: 3 threads of the block wait in a loop"), std::string::npos)
      << fault();
}

// A kernel whose threads synchronise in an endless loop is stopped after 15 times the time of
// set_watchdog().
TEST_F(CudaFaults, MeetsForever) {
  runtime_.set_watchdog(0.02);
  int flag = 0;
  launch(faulty::meets_forever, 1, 4, 0, static_cast<volatile int*>(&flag));
  EXPECT_EQ(fault().find("faulty::meets_forever: block [0, 0, 0], thread ["), 0u) << fault();
  EXPECT_NE(
      fault().find("does not end: its threads keep running, and for 0.3 seconds no thread has "
                   "begun or ended"),
      std::string::npos)
      << fault();
}

// The watchdog measures the time without progress: kernels that make progress for longer than the
// time of set_watchdog() have no fault.
TEST_F(CudaFaults, TakesLong) {
  runtime_.set_watchdog(0.3);  // on a loaded machine, a thread may get no processor for 0.1 s
  int ended = 0;
  launch(slow::last_block_first, 30, 1, 0, &ended);
  EXPECT_EQ(fault(), "none");
  launch(slow::many_atomics, 1, 1, 0, &ended, slow::now() + 0.7);
  EXPECT_EQ(fault(), "none");
  launch(slow::many_rounds, 1, 4, 0, slow::now() + 1.4);
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

TEST_F(CudaFaults, ReportsTheSeed) {
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
  int x[32] = {};
  launch(ended::in_masks, 1, 32, 0, static_cast<int*>(x), 32);
  EXPECT_EQ(x[0] + x[31], 2 * 13200);
  EXPECT_EQ(fault(), "none");
}

TEST_F(CudaFaultsDeathTest, SpinsOnMemory) {
#if defined(KERNKIT_UNDER_QEMU)
  GTEST_SKIP() << "qemu-user cannot execute a program again";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  runtime_.set_watchdog(0.05);
  int flag = 0;
  EXPECT_DEATH(launch(faulty::spins_on_memory, 1, 1, 0, static_cast<volatile int*>(&flag)),
               "kernel faulty::spins_on_memory does not end; a loop that waits for another thread");
}

}  // namespace
}  // namespace kernkit::simulator
