// SPDX-License-Identifier: Apache-2.0
// A sum by one cooperative kernel. The blocks, as many as the device holds at once, wait for each
// other.
#include <cooperative_groups.h>

#include <algorithm>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void reduce(const float* x, double* sums, int n) {
  extern __shared__ double shared[];
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  double sum = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) {
    sum += x[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += warp.shfl_down(sum, offset);
  if (warp.thread_rank() == 0) shared[warp.meta_group_rank()] = sum;
  cg::sync(block);
  if (block.thread_rank() == 0) {
    for (unsigned i = 1; i < warp.meta_group_size(); ++i) shared[0] += shared[i];
    sums[blockIdx.x] = shared[0];
  }
  cg::sync(grid);
  if (grid.thread_rank() == 0) {
    for (unsigned i = 1; i < gridDim.x; ++i) sums[0] += sums[i];
  }
}

int main() {
  const int n = 50000, threads = 128;
  int device, blocks;
  check(cudaGetDevice(&device));
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device));
  if (!properties.cooperativeLaunch) return verdict("cooperative_reduction", false);
  const size_t shared = threads / 32 * sizeof(double);
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce, threads, shared));
  blocks = std::min(blocks * properties.multiProcessorCount, 40);
  std::vector<float> x(n);
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += x[i] = static_cast<float>(i % 101) / 4;
  float* device_x;
  double* sums;
  check(cudaMalloc(&device_x, n * sizeof(float)));
  check(cudaMalloc(&sums, blocks * sizeof(double)));
  check(cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  int count = n;
  void* arguments[] = {&device_x, &sums, &count};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(reduce), dim3(blocks), dim3(threads),
                                    arguments, shared));
  double sum;
  check(cudaMemcpy(&sum, sums, sizeof(sum), cudaMemcpyDeviceToHost));
  check(cudaFree(device_x));
  check(cudaFree(sums));
  return verdict("cooperative_reduction", sum == expected);
}
