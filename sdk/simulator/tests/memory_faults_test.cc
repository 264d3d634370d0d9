// SPDX-License-Identifier: Apache-2.0
// Memory faults of kernels. Each kernel of `faulty` has a fault. AddressSanitizer finds accesses
// outside of a kernel's memory.
#include "faults_fixture.h"
#include "sanitizers.h"

namespace faulty {

__global__ void past_the_end(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) x[i] = 1;
}
__global__ void past_shared(float* x) {
  float* memory = static_cast<float*>(kernkit::simulator::dynamic_shared_memory());
  memory[threadIdx.x] = 1;
  x[threadIdx.x] = memory[threadIdx.x];
}
// The store is through a pointer, because UndefinedBehaviorSanitizer would report an index past the
// array.
__global__ void past_static(float* x) {
  __shared__ float before[3], tile[64];
  float* end = &tile[threadIdx.x] + 1;
  *end = before[0] = 1;
  x[threadIdx.x] = tile[threadIdx.x];
}
__global__ void misaligned(float4* x, const float* y) {
  const auto* four = reinterpret_cast<const float4*>(y + 1);
#if defined(__clang__)
  x[0].w = four->w;  // clang++ does not check the alignment in a struct copy
#else
  x[0] = *four;
#endif
}
// Threads n, n + 1, ... do not write their elements of the tile.
__global__ void unwritten_shared(int* x, int n) {
  __shared__ int tile[64];
  if (static_cast<int>(threadIdx.x) < n) tile[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void unwritten_dynamic(int* x) {
  x[threadIdx.x] = static_cast<int*>(kernkit::simulator::dynamic_shared_memory())[threadIdx.x];
}
__global__ void unwritten_global(int* x, const int* y) { x[threadIdx.x] = y[threadIdx.x]; }

// Computes one sum per round in each block. Without the second barrier, a warp may store its sum of
// the next round while other warps still read the sums of this round.
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

namespace kernkit::simulator {
namespace {

// If a kernel's result depends on uninitialised memory, the result changes with the poison value.
TEST_F(CudaFaults, UninitialisedMemory) {
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

// Without the second barrier, at least one seed gives wrong sums; with the barrier, all seeds give
// correct sums.
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

#if defined(TEST_WITH_ASAN)

TEST_F(CudaFaultsDeathTest, PastAnAllocation) {
  float* x = memory<float>(100);
  EXPECT_DEATH(launch(faulty::past_the_end, 4, 32, 0, x, 100),
               "in kernel faulty::past_the_end: block \\[3, 0, 0\\], thread \\[4, 0, 0\\]");
}

// Checks accesses up to and past the end of an allocation of 256 GiB, which may exceed the
// machine's memory: the pages of a large allocation exist only after an access.
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

// After kernkit_close_to_kernels() in a stream, copies and fills may access the closed memory, but
// kernels may not.
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
}  // namespace kernkit::simulator
