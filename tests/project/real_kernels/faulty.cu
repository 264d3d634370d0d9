// SPDX-License-Identifier: Apache-2.0
// Faults in code that only nvcc compiles: a copy that is not waited for, memory of the kernel's
// heap after free(), CUB loading a whole tile of an array that ends within the tile, inline PTX at
// any address.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cub/block/block_load.cuh>

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;

__global__ void copy_without_wait(const float* x, float* y, int waits) {
  __shared__ float tile[kThreads];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof(tile));
  if (waits != 0) cg::wait(block);
  block.sync();
  y[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void heap_after_free(int* y) {
  int* mine = static_cast<int*>(malloc(4 * sizeof(int)));
  mine[2] = static_cast<int>(threadIdx.x);
  free(mine);
  y[threadIdx.x] = mine[2];
}

__global__ void whole_tile(const int* x, int* y) {
  int items[4];
  cub::LoadDirectBlocked(threadIdx.x, x, items);
  y[threadIdx.x] = items[0] + items[1] + items[2] + items[3];
}

__global__ void four_at_any_address(const float* x, float* y) {
  float a, b, c, d;
  asm("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
      : "l"(x + threadIdx.x));
  y[threadIdx.x] = a + b + c + d;
}

template <class Run>
int run_and_wait(const Run& run) {
  run();
  return cudaDeviceSynchronize();
}

}  // namespace

extern "C" {

int copy(const float* x, float* y, int waits) {
  return run_and_wait([&] { copy_without_wait<<<1, kThreads>>>(x, y, waits); });
}
int heap(const void*, int* y, int) {
  return run_and_wait([&] { heap_after_free<<<1, 4>>>(y); });
}
int tile(const int* x, int* y, int) {
  return run_and_wait([&] { whole_tile<<<1, kThreads>>>(x, y); });
}
int address(const float* x, float* y, int) {
  return run_and_wait([&] { four_at_any_address<<<1, 4>>>(x, y); });
}

}  // extern "C"
