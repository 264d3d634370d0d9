// SPDX-License-Identifier: Apache-2.0
// Packs the elements that pass a filter, with one atomic instruction for all elements of a warp.
#include <algorithm>
#include <vector>

#include "check.h"

__device__ int num_selected = 0;

__device__ int next_place() {
  const unsigned active = __activemask(), lane = threadIdx.x % 32;
  const int leader = __ffs(active) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(&num_selected, __popc(active));
  return __shfl_sync(active, first, leader) + __popc(active & ((1u << lane) - 1));
}

__global__ void filter(int* y, const int* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (x[i] % 3 == 0) y[next_place()] = x[i];
  }
}

int main() {
  const int n = 30011;
  std::vector<int> x(n), expected;
  for (int i = 0; i < n; ++i) {
    x[i] = i * 37 % 1009;
    if (x[i] % 3 == 0) expected.push_back(x[i]);
  }
  int *device_x, *device_y;
  check(cudaMalloc(&device_x, n * sizeof(int)));
  check(cudaMalloc(&device_y, n * sizeof(int)));
  check(cudaMemcpy(device_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  filter<<<10, 192>>>(device_y, device_x, n);
  check(cudaGetLastError());
  int count;
  check(cudaMemcpyFromSymbol(&count, num_selected, sizeof(count)));
  std::vector<int> y(count);
  check(cudaMemcpy(y.data(), device_y, count * sizeof(int), cudaMemcpyDeviceToHost));
  std::sort(y.begin(), y.end());
  std::sort(expected.begin(), expected.end());
  check(cudaFree(device_x));
  check(cudaFree(device_y));
  return verdict("aggregated_atomics", y == expected);
}
