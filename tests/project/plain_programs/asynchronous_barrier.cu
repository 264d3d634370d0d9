// SPDX-License-Identifier: Apache-2.0
// libcu++: cuda::barrier and cuda::pipeline around asynchronous copies into shared memory.
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTiles = 9;
constexpr int kTileBytes = kThreads * sizeof(int);

// Each thread adds up elements that another thread of the block has copied.
__global__ void sum_with_barrier(int* sums, const int* tiles) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[2][kThreads];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  int sum = 0;
  for (int i = 0; i < kTiles; ++i) {
    cuda::memcpy_async(block, tile[i % 2], tiles + i * kThreads, kTileBytes, barrier);
    barrier.arrive_and_wait();
    sum += tile[i % 2][kThreads - 1 - threadIdx.x];
  }
  sums[threadIdx.x] = sum;
}

__global__ void sum_with_pipeline(int* sums, const int* tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][kThreads];
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int i = 0, next = 0; i < kTiles; ++i) {
    for (; next < kTiles && next < i + 2; ++next) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[next % 2], tiles + next * kThreads,
                         cuda::aligned_size_t<4>(kTileBytes), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tile[i % 2][kThreads - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  sums[threadIdx.x] = sum;
}

int main() {
  std::vector<int> tiles(kTiles * kThreads), expected(kThreads), actual(kThreads);
  for (int i = 0; i < kTiles * kThreads; ++i) {
    tiles[i] = i * 7 % 1001;
    expected[kThreads - 1 - i % kThreads] += tiles[i];
  }
  int *device_tiles, *device_sums;
  check(cudaMalloc(&device_tiles, kTiles * kTileBytes));
  check(cudaMalloc(&device_sums, kTileBytes));
  check(cudaMemcpy(device_tiles, tiles.data(), kTiles * kTileBytes, cudaMemcpyHostToDevice));
  bool is_right = true;
  for (const auto kernel : {sum_with_barrier, sum_with_pipeline}) {
    check(cudaMemset(device_sums, 0, kTileBytes));
    kernel<<<1, kThreads>>>(device_sums, device_tiles);
    check(cudaMemcpy(actual.data(), device_sums, kTileBytes, cudaMemcpyDeviceToHost));
    is_right = is_right && actual == expected;
  }
  return verdict("asynchronous_barrier", is_right);
}
