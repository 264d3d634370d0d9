// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sums: scans of the blocks, a scan of the blocks' sums, and their addition.
#include <vector>

#include "check.h"

constexpr int kThreads = 512;

__global__ void scan_blocks(const int* x, int* y, int* sums, int n) {
  __shared__ int buffer[2][kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  int from = 0;
  buffer[from][threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < kThreads; offset *= 2) {
    int value = buffer[from][threadIdx.x];
    if (threadIdx.x >= offset) value += buffer[from][threadIdx.x - offset];
    from = 1 - from;
    buffer[from][threadIdx.x] = value;
    __syncthreads();
  }
  if (i < n) y[i] = buffer[from][threadIdx.x];
  if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = buffer[from][threadIdx.x];
}

__global__ void add_sums(int* y, const int* sums, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x > 0 && i < n) y[i] += sums[blockIdx.x - 1];
}

int main() {
  const int n = 70001, blocks = (n + kThreads - 1) / kThreads;
  std::vector<int> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i * 7 % 23 - 9;
  int *device_x, *device_y, *sums, *total;
  check(cudaMalloc(&device_x, n * sizeof(int)));
  check(cudaMalloc(&device_y, n * sizeof(int)));
  check(cudaMalloc(&sums, blocks * sizeof(int)));
  check(cudaMalloc(&total, sizeof(int)));
  check(cudaMemcpy(device_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  scan_blocks<<<blocks, kThreads>>>(device_x, device_y, sums, n);
  scan_blocks<<<1, kThreads>>>(sums, sums, total, blocks);
  add_sums<<<blocks, kThreads>>>(device_y, sums, n);
  check(cudaGetLastError());
  check(cudaMemcpy(y.data(), device_y, n * sizeof(int), cudaMemcpyDeviceToHost));
  bool passed = true;
  for (int i = 0, sum = 0; i < n; ++i) passed = passed && y[i] == (sum += x[i]);
  for (int* memory : {device_x, device_y, sums, total}) check(cudaFree(memory));
  return verdict("scan", passed);
}
