// SPDX-License-Identifier: Apache-2.0
// Races that other projects repaired, each in a small kernel written for these tests: with the
// fault, the kernel is like the code before the repair; without the fault, like the repaired code.
#include <cuda_pipeline_primitives.h>

#include "faults.h"

namespace {

__device__ float sum_of_warp(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

// Returns the sum over 128 threads. Every thread reads all of `sums`.
__device__ float sum_of_block(float value, float* sums) {
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace

__global__ void layer_norm(float* y, const float* x, bool planted) {
  __shared__ float sums[4];
  const float value = x[threadIdx.x];
  const float mean = sum_of_block(value, sums) / 128;  // sums_reused 1
  if (!planted) __syncthreads();
  const float variance =
      sum_of_block((value - mean) * (value - mean), sums) / 128;  // sums_reused 2
  y[threadIdx.x] = (value - mean) * rsqrtf(variance + 1e-6f);
}
FAULT(sums_reused, "FlashInfer 3607: sums for the variance overwrite those of the mean too early",
      "racecheck") {
  layer_norm<<<1, 128>>>(zeros<float>(128), zeros<float>(128), planted);
}

__global__ void replay(float* y, const float* x, bool planted) {
  __shared__ alignas(16) float state[4][128];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __pipeline_memcpy_async(&state[warp][4 * lane], x + 128 * warp + 4 * lane, 16);  // state_of_warps
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (planted) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  float sum = 0;
  for (int row = 0; row < 4; ++row) sum += state[row][threadIdx.x];  // state_of_warps 2
  y[threadIdx.x] = sum;
}
FAULT(state_of_warps,
      "FlashInfer 3439: warps read what other warps copy by `cp.async`, without a barrier",
      "racecheck, initcheck") {
  replay<<<1, 128>>>(zeros<float>(128), zeros<float>(512), planted);
}

// Finds the k-th largest value for k = 20, one digit of 4 bits per round.
__global__ void select_digits(unsigned* y, const unsigned* x, bool planted) {
  __shared__ int counts[17];
  __shared__ int threshold;
  int remaining = 20;
  unsigned prefix = 0;
  const unsigned value = x[threadIdx.x];
  for (int shift = 28; shift >= 16; shift -= 4) {
    if (threadIdx.x < 17) counts[threadIdx.x] = 0;  // counts_cleared_early 2
    __syncthreads();
    if (shift == 28 || value >> (shift + 4) == prefix) atomicAdd(&counts[value >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int digit = 14; digit >= 0; --digit) counts[digit] += counts[digit + 1];
      threshold = 15;
      while (threshold > 0 && counts[threshold] < remaining) --threshold;
    }
    __syncthreads();
    prefix = prefix << 4 | threshold;
    remaining -= counts[threshold + 1];  // counts_cleared_early 1
    if (!planted) __syncthreads();
  }
  y[threadIdx.x] = prefix;
}
FAULT(counts_cleared_early,
      "FlashInfer 3529: a round of a top-k search clears counts that are still read", "racecheck") {
  select_digits<<<1, 128>>>(zeros<unsigned>(128), zeros<unsigned>(128), planted);
}

// Computes the largest logit of three rounds, whose reductions use the same shared memory.
__global__ void sample(float* y, const float* logits, bool planted) {
  __shared__ float storage[4];
  float largest = -1;
  for (int round = 0; round < 3; ++round) {
    float value = logits[128 * round + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) {
      value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
    }
    if (threadIdx.x % 32 == 0) storage[threadIdx.x / 32] = value;  // storage_reused 2
    __syncthreads();
    if (threadIdx.x == 0) {
      for (float other : storage) largest = fmaxf(largest, other);  // storage_reused 1
    }
    if (!planted) __syncthreads();
  }
  if (threadIdx.x == 0) *y = largest;
}
FAULT(storage_reused, "FlashInfer 3624: a loop reuses the storage of a reduction without a barrier",
      "racecheck") {
  sample<<<1, 128>>>(zeros<float>(1), zeros<float>(384), planted);
}

__global__ void triangles(int* y, int* counters, bool planted) {
  __shared__ int first_vertex, first_triangle;
  if (threadIdx.x == 0) {
    first_vertex = atomicAdd(counters, 128);
    first_triangle = atomicAdd(counters + 1, 256);  // sums_of_one_thread 1
  }
  if (!planted) __syncthreads();
  y[first_triangle + threadIdx.x] = first_vertex;  // sums_of_one_thread 2
}
FAULT(sums_of_one_thread,
      "HeCBench 254: all warps read totals that one thread stores, without a barrier",
      "racecheck") {
  triangles<<<1, 128>>>(zeros(256), zeros(2), planted);
}

// The blocks add their parts of a product to the tile of results, one block after the other.
__global__ void split_k(float* tile, const float* x, int* turn, bool planted) {
  if (threadIdx.x == 0) {
    while (*static_cast<volatile int*>(turn) != static_cast<int>(blockIdx.x)) {
    }
    __threadfence();
  }
  __syncthreads();
  tile[threadIdx.x] += x[64 * blockIdx.x + threadIdx.x];  // turn_without_fence
  __syncthreads();
  if (threadIdx.x == 0 && !planted) __threadfence();  // fence of the thread that passes on the turn
  if (threadIdx.x == 0) *static_cast<volatile int*>(turn) = static_cast<int>(blockIdx.x) + 1;
}
FAULT(turn_without_fence,
      "Fuser 2391: a block of a split-K product passes its turn on without a fence", "racecheck") {
  split_k<<<4, 64>>>(zeros<float>(64), zeros<float>(256), zeros(1), planted);
}

// The last block to arrive adds the results of all blocks.
__global__ void two_stages(float* y, float* parts, const float* x, int* arrived, bool planted) {
  __shared__ bool is_last;
  const float part = sum_of_warp(x[32 * blockIdx.x + threadIdx.x]);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;  // no_acquire 2
    __threadfence();
    is_last = atomicAdd(arrived, 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  if (!planted) __threadfence();
  float sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += parts[i];  // no_acquire 1
  *y = sum;
  *arrived = 0;  // no race: each block has incremented arrived
}
FAULT(no_acquire, "PyTorch 128455: the last block reads without a fence after its atomic",
      "racecheck, warn") {
  two_stages<<<4, 32>>>(zeros<float>(1), zeros<float>(4), zeros<float>(128), zeros(1), planted);
}
