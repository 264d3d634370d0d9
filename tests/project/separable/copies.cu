// SPDX-License-Identifier: Apache-2.0
// A kernel that copies and fills memory between kernels that it launches, in the order of a stream,
// and prints errors.
// With an argument, the target of the copy is one element too short.
#include <cstdio>
#include <vector>

__global__ void increment(int* x, int n) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) ++x[i];
}

__global__ void first(int* target, int* source, int n) {
  const size_t bytes = n * sizeof(int);
  increment<<<1, 64>>>(source, n);
  cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, 0);
  cudaMemcpyAsync(target, source, 0, cudaMemcpyDeviceToDevice, 0);
  cudaMemsetAsync(source, 0x1ff, bytes, 0);
  increment<<<1, 64>>>(source, n);
  printf("%s, %s\n", cudaGetErrorString(cudaGetLastError()),
         cudaGetErrorName(cudaErrorInvalidValue));
}

int main(int count, char**) {
  const int n = 20000;
  const size_t bytes = n * sizeof(int);
  int *target, *source;
  std::vector<int> x(n);
  for (int i = 0; i < n; ++i) x[i] = i;
  if (cudaMalloc(&target, bytes - (count > 1 ? sizeof(int) : 0)) != cudaSuccess) return 1;
  if (cudaMalloc(&source, bytes) != cudaSuccess) return 1;
  if (cudaMemcpy(source, x.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
  first<<<1, 1>>>(target, source, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  bool right = true;
  if (cudaMemcpy(x.data(), target, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < n; ++i) right = right && x[i] == i + 1;
  if (cudaMemcpy(x.data(), source, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < n; ++i) right = right && x[i] == 0;
  std::printf("copies: %s\n", right ? "passed" : "FAILED");
  return right ? 0 : 1;
}
