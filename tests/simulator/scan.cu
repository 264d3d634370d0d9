// SPDX-License-Identifier: Apache-2.0
// Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.
#include "kernkit/cuda/launch.h"
#include "shapes.h"

namespace {

enum Status : int { kNothing, kAggregate, kPrefix };  // which sums a block has published

__device__ int warp_scan(int value) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  for (int offset = 1; offset < 32; offset *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value += before;
  }
  return value;
}

// state: the number of the next block; for each block its status, its sum, and the sum up to its
// end.
__global__ void __launch_bounds__(kScanThreads)
    scan_kernel(int* y, const int* x, int64_t n, int* state) {
  __shared__ int block, before;
  __shared__ int of_warps[kScanThreads / 32];
  // Blocks are numbered in the order in which they start, so that each block waits only for blocks
  // that have started.
  if (threadIdx.x == 0) block = atomicAdd(state, 1);
  __syncthreads();
  const int64_t i = int64_t{block} * kScanThreads + threadIdx.x;
  int sum = warp_scan(i < n ? x[i] : 0);
  if (threadIdx.x % 32 == 31) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) sum += of_warps[warp];

  volatile int* blocks = state + 1;
  if (threadIdx.x == kScanThreads - 1) {
    volatile int* own_state = blocks + 3 * block;
    own_state[1] = sum;
    __threadfence();
    own_state[0] = kAggregate;
    int total = 0;
    for (int previous = block - 1; previous >= 0;) {
      const int status = blocks[3 * previous];
      __threadfence();
      if (status == kNothing) continue;
      total += blocks[3 * previous + (status == kPrefix ? 2 : 1)];
      if (status == kPrefix) break;
      --previous;
    }
    own_state[2] = total + sum;
    __threadfence();
    own_state[0] = kPrefix;
    before = total;
  }
  __syncthreads();
  if (i < n) y[i] = before + sum;
}

}  // namespace

void inclusive_scan(kernkit::TensorView y, kernkit::TensorView x, kernkit::TensorView state) {
  kernkit::cuda::Launch launch(y, x, state);
  launch(scan_kernel, {(x.numel() + kScanThreads - 1) / kScanThreads, kScanThreads}, y.data<int>(),
         x.data<const int>(), x.numel(), state.data<int>());
}
