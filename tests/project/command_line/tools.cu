// SPDX-License-Identifier: Apache-2.0
// Kernels for `kernkit counters` and `kernkit sanitize`. The argument selects the kernel.
#include <unistd.h>

#include <cstdio>
#include <cstring>

__global__ void strided(float* y, const float* x) { y[threadIdx.x] = x[32 * threadIdx.x]; }
__global__ void columns(float* y, const float* x) {
  __shared__ float tile[32][32];
  tile[threadIdx.x][threadIdx.y] = x[32 * threadIdx.y + threadIdx.x];
  __syncthreads();
  y[32 * threadIdx.y + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
__global__ void outside(float* y, const float* x) { y[threadIdx.x] = x[threadIdx.x + 1000]; }
__global__ void diverged(float* y, const float* x) {
  float value = x[threadIdx.x];
  if (threadIdx.x < 32) __syncthreads();
  if (threadIdx.x != 63) value = __shfl_sync(0xffffffff, value, 0);
  y[threadIdx.x] = value;
  __syncthreads();
}
__global__ void early(float* y, const float* x) {
  if (threadIdx.x >= 40) return;
  __syncthreads();  // some threads of the block have ended before this barrier
  y[threadIdx.x] = x[threadIdx.x];
}
__global__ void unordered(float* y, const float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x] + threadIdx.x;
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void lanes(float* y, const float* x) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x] + threadIdx.x;
  y[threadIdx.x] = tile[31 - threadIdx.x];
}
__device__ int arrivals;
__global__ void elected(float* y, const float* x) {
  __shared__ int place;
  if (threadIdx.x == 0) place = atomicAdd(&arrivals, 1);
  __syncthreads();
  if (place == 0 && blockIdx.x != 0) y[0] = x[0] + 1;  // the first block, unless it is block 0
  if (place == 7 && threadIdx.x == 63) y[0] = x[1];    // the last of the eight blocks
}
__global__ void unwritten(float* y, const float* x) {
  __shared__ float tile[64];
  if (threadIdx.x != 5) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // thread 58 reads the uninitialised element 5
}
__global__ void __launch_bounds__(1024, 2) spills(float* y, const float* x) {
  float all[64];
  for (int i = 0; i < 64; ++i) all[i] = x[i * blockDim.x + threadIdx.x];
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 64; ++j) all[j] = all[j] * all[63 - i] + all[i];
  }
  for (int i = 0; i < 64; ++i) y[i * blockDim.x + threadIdx.x] = all[i];
}

int main(int, char** arguments) {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 1024 * sizeof(float));
  cudaMalloc(&y, 1024 * sizeof(float));
  cudaMemset(x, 0, 1024 * sizeof(float));
  const auto is = [&](const char* kernel) { return std::strcmp(arguments[1], kernel) == 0; };
  if (is("strided")) strided<<<1, 32>>>(y, x);
  if (is("columns")) columns<<<1, dim3(32, 32)>>>(y, x);
  if (is("outside")) outside<<<1, 64>>>(y, x);
  if (is("diverged")) diverged<<<1, 64>>>(y, x);
  if (is("early")) early<<<1, 64>>>(y, x);
  if (is("unordered") || is("waits")) unordered<<<1, 64>>>(y, x);
  if (is("lanes")) lanes<<<1, 32>>>(y, x);
  if (is("elected")) elected<<<8, 64>>>(y, x);
  if (is("unwritten")) unwritten<<<1, 64>>>(y, x);
  cudaDeviceSynchronize();
  if (is("seven")) return 7;
  for (int i = 0; is("repeats") && i < 1000; ++i)
    cudaMemcpy(y, x, 8192 * sizeof(float), cudaMemcpyDeviceToDevice);
  if (is("waits")) {
    std::puts("waits");
    std::fflush(stdout);
    pause();
  }
  std::puts("done");
}
