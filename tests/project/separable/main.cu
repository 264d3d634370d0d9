// SPDX-License-Identifier: Apache-2.0
// A program of two files, whose kernels call functions and use variables of the other file.
#include "device.h"

// other.cu defines another static function and another static variable with these names.
static __device__ __noinline__ int local(int x) { return x + 1000; }
static __device__ int counter = 3;

__device__ int triple(int x) { return 3 * x; }

static __global__ void kernel(int* x, int count) {
  extern __shared__ int row[];
  const int i = threadIdx.x;
  assert(count <= blockDim.x);
  row[i] = add_offset(i, i % 4);
  __syncthreads();
  if (i < count) x[i] = local(row[i]) + steps[i % 2](i) + square(i) + counter;
  if (i == 0) {
    printf("main: counter %d\n", counter);
    atomicAdd(&total, 1);
  }
}

static void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}

int main() {
  constexpr int kCount = 20;
  const int added[4] = {10, 20, 30, 40};
  int *x, found[kCount], counted = 0;
  require(cudaMalloc(&x, sizeof(found)) == cudaSuccess, "cudaMalloc()");
  require(cudaMemcpyToSymbol(offsets, added, sizeof(added)) == cudaSuccess, "cudaMemcpyToSymbol()");
  kernel<<<1, 32, 32 * sizeof(int)>>>(x, kCount);
  add_twice(x, kCount);
  require(cudaDeviceSynchronize() == cudaSuccess, "kernels");
  require(cudaMemcpy(found, x, sizeof(found), cudaMemcpyDeviceToHost) == cudaSuccess, "results");
  require(cudaMemcpyFromSymbol(&counted, calls, sizeof(int)) == cudaSuccess, "calls");
  for (int i = 0; i < kCount; ++i) {
    const int with_offset = i + added[i % 4] + (i % 4) * (i % 4);
    const int wanted = with_offset + 1000 + (i % 2 == 0 ? 2 : 3) * i + i * i + 3 + 2 * i;
    require(found[i] == wanted, "a value");
  }
  require(counted == 5 + 32, "the number of calls");
  require(total == 7 + 1 + 10, "the managed variable");
  std::printf("separable: passed\n");
}
