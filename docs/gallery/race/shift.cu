// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

constexpr int kThreads = 128;

__global__ void shift(int* x) {
  __shared__ int copy[kThreads];
  copy[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x > 0) x[threadIdx.x] = copy[threadIdx.x - 1];  // __syncthreads() is missing
}

int main() {
  int* x;
  cudaMallocManaged(&x, kThreads * sizeof(int));
  for (int i = 0; i < kThreads; ++i) x[i] = i;
  shift<<<1, kThreads>>>(x);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 1; i < kThreads; ++i) wrong += x[i] != i - 1;
  std::printf("%d wrong elements\n", wrong);
  cudaFree(x);
}
