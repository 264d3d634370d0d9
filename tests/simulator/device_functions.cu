// SPDX-License-Identifier: Apache-2.0
#include "device_functions.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>

#include "kernkit/cuda/launch.h"

namespace {

namespace cg = cooperative_groups;
constexpr unsigned kAll = 0xffffffffu;

__global__ void warp_kernel(int* results) {
  const auto lane = static_cast<int>(threadIdx.x);
  int* r = results + lane * kWarpResults;
  r[0] = __shfl_sync(kAll, lane * 10, 5);
  r[1] = __shfl_sync(kAll, lane * 10, 5, 8);
  r[2] = __shfl_up_sync(kAll, lane, 3);
  r[3] = __shfl_up_sync(kAll, lane, 3, 16);
  r[4] = __shfl_down_sync(kAll, lane, 3);
  r[5] = __shfl_down_sync(kAll, lane, 3, 4);
  r[6] = __shfl_xor_sync(kAll, lane, 16);
  r[7] = __shfl_xor_sync(kAll, lane, 16, 16);
  r[8] = static_cast<int>(__ballot_sync(kAll, lane % 3 == 0));
  r[9] = __any_sync(kAll, lane == 31);
  r[10] = __all_sync(kAll, lane < 31);
  r[11] = static_cast<int>(__match_any_sync(kAll, lane % 4));
  int same = 0;
  r[12] = static_cast<int>(__match_all_sync(kAll, 2.5, &same)) + same;
  r[13] = __reduce_add_sync(kAll, lane);
  r[14] = __reduce_max_sync(kAll, -lane);
  r[15] = static_cast<int>(__reduce_xor_sync(kAll, 1u << lane));
  // The halves of the warp do not synchronise with each other.
  if (lane < 16) {
    r[16] = __shfl_sync(0x0000ffffu, lane, 15);
    __syncwarp(0x0000ffffu);
  } else {
    r[16] = __shfl_sync(0xffff0000u, lane, 16);
    r[16] += static_cast<int>(__ballot_sync(0xffff0000u, lane == 20) >> 20);
  }
  r[17] = static_cast<int>(__shfl_sync(kAll, lane * 0.5, 9) * 2);
  r[18] = static_cast<int>(__shfl_down_sync(kAll, static_cast<long long>(lane) << 40, 1) >> 40);
  r[19] = __popc(__activemask()) + warpSize;
  __syncwarp();
}

// Appends a value of each lane to a list. One atomicAdd() reserves elements for all lanes that
// execute this code together.
__device__ void append(int* list, int value) {
  const cg::coalesced_group active = cg::coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(list, static_cast<int>(active.size()));
  list[1 + active.shfl(first, 0) + static_cast<int>(active.thread_rank())] = value;
}
__device__ __noinline__ int active_lanes_of_call() { return static_cast<int>(__activemask()); }

__global__ void converged_kernel(int* results, int* small, int* large, int* turn) {
  constexpr unsigned kLanes = 0x1fffffffu;
  const auto lane = static_cast<int>(threadIdx.x);
  if (lane >= 29) return;
  int* r = results + lane * kConvergedResults;
  r[0] = static_cast<int>(__activemask());
  if (lane < 16) {
    r[1] = static_cast<int>(__activemask());
  } else {
    r[1] = static_cast<int>(__activemask());
  }
  int active_lanes = 0;
  for (int i = 0; i < lane % 4; ++i) active_lanes += __popc(__activemask());
  r[2] = active_lanes;
  r[3] = static_cast<int>(__activemask());
  __syncwarp(kLanes);

  // Lanes 4 and higher wait until lane 0, which is in the other branch, sets `turn`.
  if (lane < 4) {
    r[4] = static_cast<int>(__activemask());
    if (lane == 0) atomicExch(turn, 1);
  } else {
    while (atomicAdd(turn, 0) == 0) {
    }
    r[4] = static_cast<int>(__activemask());
  }
  __syncwarp(kLanes);

  for (int i = 0; i < 40; ++i) {
    if (i * lane % 3 == 0) {
      append(small, i * 100 + lane);
    } else if (i * lane % 3 == 1) {
      append(large, i * 100 + lane);
    }
  }
  __syncwarp(kLanes);

  if (lane % 5 == 2) {
    const cg::coalesced_group active = cg::coalesced_threads();
    r[5] = cg::reduce(active, lane, cg::plus<int>());
    r[6] = active.shfl_up(lane, 1);
    r[7] = active.shfl_down(lane, 2);
    r[8] = static_cast<int>(active.ballot(lane > 10) * 100 + active.thread_rank());
    r[9] = active.any(lane == 27) * 10 + active.all(lane == 27);
    r[10] = static_cast<int>(active.match_any(lane < 10));
    active.sync();
  }
  __syncwarp(kLanes);

  if (lane % 2 == 0) {
    r[11] = active_lanes_of_call();
  } else {
    r[11] = -active_lanes_of_call();
  }
}

__global__ void block_kernel(int* results) {
  const auto thread = static_cast<int>(threadIdx.x);
  int* r = results + thread * 8;
  r[0] = __syncthreads_count(thread % 3 == 0);
  r[1] = __syncthreads_and(thread < 63);
  r[2] = __syncthreads_or(thread == 63);
  __shared__ int reversed[64];
  const cg::thread_block block = cg::this_thread_block();
  reversed[63 - block.thread_rank()] = thread;
  block.sync();
  r[3] = reversed[thread];
  const auto tile = cg::tiled_partition<8>(block);
  r[4] = cg::reduce(tile, thread, cg::plus<int>());
  r[5] = tile.shfl(thread, 2);
  r[6] = static_cast<int>(tile.ballot(tile.thread_rank() == 1) * 100 + tile.meta_group_rank());
  r[7] = cg::reduce(tile, thread, cg::greater<int>());
}

__constant__ float table[3] = {1.5f, 2.5f, 3.5f};
__device__ float counter;

__global__ void number_kernel(float* r) {
  if (threadIdx.x != 0) return;
  r[0] = __expf(0.0f) + __logf(1.0f) + __powf(2.0f, 3.0f);
  r[1] = rsqrtf(4.0f);
  r[2] = __fmaf_rn(2.0f, 3.0f, 1.0f);
  r[3] = __fdividef(1.0f, 4.0f);
  r[4] = static_cast<float>(__float2int_rn(2.5f) * 10 + __float2int_rz(-2.7f));
  r[5] = __int_as_float(__float_as_int(1.25f));
  r[6] = static_cast<float>(__clz(1) + __ffs(8) + __popcll(~0ull));
  r[7] = static_cast<float>(__umulhi(0x80000000u, 6u));
  r[8] = static_cast<float>(__byte_perm(0x03020100u, 0x07060504u, 0x7531u) == 0x07050301u);
  r[9] = static_cast<float>(max(3, 7) - min(2.5f, 4.0f));
  r[10] = __half2float(__float2half(1.0f / 3.0f) * __float2half(3.0f));
  r[11] = __half2float(__hfma(__float2half(2.0f), __float2half(0.5f), __float2half(0.25f)));
  const float2 two = __half22float2(__hadd2(__floats2half2_rn(1.0f, 2.0f), __float2half2_rn(0.5f)));
  r[12] = two.x * 10 + two.y;
  r[13] = __bfloat162float(__float2bfloat16(1.0f / 3.0f));
  r[14] = __bfloat162float(__float2bfloat16(3.0f) / __float2bfloat16(2.0f));
  const float4 four = make_float4(1, 2, 3, 4);
  r[15] = four.x + four.w;
  const uint2 pair = make_uint2(7u, 8u);
  r[16] = static_cast<float>(pair.y);
  r[17] = table[0] + table[2];
  counter += 2.0f;
  r[18] = counter;
  r[19] = __ldg(r + 17);
  float sine = 0, cosine = 0;
  __sincosf(0.0f, &sine, &cosine);
  r[20] = sine + cosine;
  r[21] = static_cast<float>(__brev(1u) >> 31);
  r[22] = __saturatef(1.5f);
  r[23] = static_cast<float>(__funnelshift_r(0u, 1u, 31));
}

__global__ void atomic_kernel(int* r) {
  const auto i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&r[0], i);
  atomicSub(&r[1], 1);
  atomicMax(&r[2], i);
  atomicMin(&r[3], -i);
  atomicOr(&r[4], 1 << (i % 31));
  atomicXor(&r[5], i);
  atomicInc(reinterpret_cast<unsigned*>(&r[6]), 9u);
  atomicAdd(reinterpret_cast<float*>(&r[7]), 0.5f);
  int old = *static_cast<volatile int*>(&r[8]);
  for (;;) {
    const int previous = atomicCAS(&r[8], old, old + 2);
    if (previous == old) break;
    old = previous;
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(&r[10]), 1ull << 32);
  // One thread at a time adds 1.
  for (bool has_added = false; !has_added;) {
    if (atomicExch(&r[12], 1) == 0) {
      __threadfence();
      r[13] += 1;
      __threadfence();
      atomicExch(&r[12], 0);
      has_added = true;
    }
  }
}

// The sums of 256 threads exceed the range of their types and wrap around, as in CUDA.
__global__ void wrapping_kernel(int* r) {
  atomicAdd(&r[0], INT_MAX);
  atomicSub(&r[1], INT_MAX);
  if (blockIdx.x == 0) atomicAdd_block(&r[2], INT_MIN);  // block scope, so only one block adds
  atomicAdd(reinterpret_cast<unsigned*>(&r[3]), UINT_MAX);
  atomicSub(reinterpret_cast<unsigned*>(&r[4]), 1u);
  atomicInc(reinterpret_cast<unsigned*>(&r[5]), UINT_MAX);
  atomicDec(reinterpret_cast<unsigned*>(&r[6]), UINT_MAX);
  atomicAdd(reinterpret_cast<unsigned long long*>(&r[8]), ULLONG_MAX);
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int of_tile = cg::reduce(tile, INT_MAX, cg::plus<int>());
  const int of_warp = __reduce_add_sync(kAll, INT_MAX);
  if (blockIdx.x + threadIdx.x != 0) return;
  r[10] = of_tile;
  r[11] = of_warp;
}

// Blocks wait in a loop until all blocks have started. In each iteration, the simulator counts a
// barrier and an atomic that changes memory as progress of a block.
__global__ void waiting_kernel(int* r) {
  __shared__ int started;
  if (threadIdx.x == 0) atomicAdd(&r[0], 1);
  do {
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(&r[1], 1);
      started = atomicAdd(&r[0], 0);
    }
    __syncthreads();
  } while (started < static_cast<int>(gridDim.x));
  if (threadIdx.x == 0) r[2 + blockIdx.x] = started;
}

__device__ __forceinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int thrice(int x) { return 3 * x; }
__device__ __forceinline__ int digits(int x) { return x < 10 ? 1 : 1 + digits(x / 10); }
static __device__ __forceinline__ int by_address(int (*function)(int), int x) {
  return function(x);
}

__global__ void qualified_kernel(int* r) {
  static __shared__ int tile[64];
  static __shared__ __align__(16) int sum;
  const auto thread = static_cast<int>(threadIdx.x);
  int (*const functions[])(int) = {twice, thrice};
  if (thread == 0) sum = 0;
  tile[63 - thread] = by_address(functions[thread % 2], thread);
  __syncthreads();
  atomicAdd(&sum, tile[thread]);
  __syncthreads();
  r[3 * thread] = tile[thread];
  r[3 * thread + 1] = sum;
  r[3 * thread + 2] = digits(thread * thread);
}

}  // namespace

void run_warp_functions(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(warp_kernel, {1, 32}, results.data<int>());
}
void run_converged_lanes(kernkit::TensorView results, kernkit::TensorView lists) {
  kernkit::cuda::Launch launch(results, lists);
  int* list = lists.data<int>();
  launch(converged_kernel, {1, 32}, results.data<int>(), list, list + lists.size(1),
         list + 2 * lists.size(1));
}
void run_block_functions(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(block_kernel, {1, 64}, results.data<int>());
}
void run_number_functions(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(number_kernel, {1, 32}, results.data<float>());
}
void run_atomics(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(atomic_kernel, {4, 64}, results.data<int>());
}
void run_wrapping_atomics(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(wrapping_kernel, {4, 64}, results.data<int>());
}
void run_waiting_blocks(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(waiting_kernel, {4, 64}, results.data<int>());
}
void run_qualified_functions(kernkit::TensorView results) {
  kernkit::cuda::Launch launch(results);
  launch(qualified_kernel, {2, 64}, results.data<int>());
}
