// SPDX-License-Identifier: Apache-2.0
// Programs that end in different ways, and errors of the host's code, for `kernkit sanitize`. The
// argument selects the case.
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Function = int (*)(int);
__device__ int one(int x) { return x + 1; }
__device__ Function function = one;
__device__ int variable[4];

__device__ __noinline__ int deep(int x) { return x <= 0 ? 1 : deep(x - 1) * deep(x - 2) + x; }
__global__ void overflows(int* y, int n) { *y = deep(n); }
__global__ void calls(int* y, long n) {
  *y = reinterpret_cast<Function>(reinterpret_cast<long>(function) + n)(3);
}
__global__ void outside(int* y, int n) { y[threadIdx.x + n] = 1; }
__global__ void traps() { asm volatile("trap;"); }

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int *y = nullptr, host[64] = {};
  cudaMalloc(&y, 128);
  cudaMemset(y, 0, 128);
  if (is("overflow")) overflows<<<1, 1>>>(y, 1000000);
  if (is("function")) calls<<<1, 1>>>(y, 1 << 20);
  if (is("trap")) traps<<<1, 1>>>();
  if (is("outside")) outside<<<1, 32>>>(y, 100);
  if (is("outside")) outside<<<1, 32>>>(y, 0);
  if (is("right") || is("unsynchronised")) outside<<<1, 32>>>(y, 0);
  if (is("unsynchronised outside")) outside<<<1, 32>>>(y, 100);
  if (is("configuration")) outside<<<1, 2000>>>(y, 0);
  if (is("twice")) cudaFree(y);
  if (is("twice")) cudaFree(y);
  if (is("crash")) std::abort();
  if (is("exit")) std::_Exit(0);
  if (is("copy")) cudaMemcpy(host, y, 132, cudaMemcpyDeviceToHost);
  if (is("rows")) cudaMemcpy2D(y, 32, host, 32, 16, 5, cudaMemcpyHostToDevice);
  if (is("fill rows")) cudaMemset2D(y, 64, 0, 64, 3);
  if (is("peer")) cudaMemcpyPeer(y, 0, y + 1, 0, 128);
  if (is("symbol")) cudaMemcpyToSymbol(variable, host, 20);
  if (is("from symbol")) cudaMemcpyFromSymbol(y + 30, variable, 16, 0, cudaMemcpyDeviceToDevice);
  if (std::strncmp(arguments[1], "unsynchronised", 14) != 0) cudaDeviceSynchronize();
  return 0;
}
