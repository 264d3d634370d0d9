// SPDX-License-Identifier: Apache-2.0
// The sum of an array: each block adds in shared memory, and its last 32 sums by shuffles.
#include <vector>

#include "check.h"

constexpr int kThreads = 256;

template <class T>
__device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);
  }
  return value;
}

template <class T>
__global__ void reduce(const T* x, T* sums, int n) {
  __shared__ T shared[kThreads];
  T sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += x[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half >= 32; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    sum = warp_sum(shared[threadIdx.x]);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}

template <class T>
bool sums_are_right(int n) {
  std::vector<T> x(n);
  T expected = 0;
  for (int i = 0; i < n; ++i) expected += x[i] = static_cast<T>(i % 13 - 4);
  constexpr int kBlocks = 24;
  T *device_x, *sums;
  check(cudaMalloc(&device_x, n * sizeof(T)));
  check(cudaMalloc(&sums, kBlocks * sizeof(T)));
  check(cudaMemcpy(device_x, x.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  reduce<<<kBlocks, kThreads>>>(device_x, sums, n);
  reduce<<<1, kThreads>>>(sums, sums, kBlocks);
  check(cudaGetLastError());
  T sum;
  check(cudaMemcpy(&sum, sums, sizeof(T), cudaMemcpyDeviceToHost));
  check(cudaFree(device_x));
  check(cudaFree(sums));
  return sum == expected;
}

int main() {
  bool passed = true;
  for (int n : {1, 255, 256, 100003}) {
    passed =
        passed && sums_are_right<int>(n) && sums_are_right<float>(n) && sums_are_right<double>(n);
  }
  return verdict("reduction", passed);
}
