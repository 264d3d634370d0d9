// SPDX-License-Identifier: Apache-2.0
#include "device.h"

__device__ int calls = 5;
__constant__ int offsets[4] = {1, 2, 3, 4};
__managed__ int total = 7;

// main.cu defines another static function and another static variable with these names.
static __device__ __noinline__ int local(int x) { return 2 * x; }
static __device__ int counter = 100;

static __device__ __noinline__ int twice(int x) { return local(x); }
__device__ Step steps[2] = {twice, triple};

__device__ int add_offset(int x, int i) {
  atomicAdd(&calls, 1);
  return x + offsets[i] + square(i);
}

static __global__ void kernel(int* x, int count) {
  extern __shared__ int row[];
  const int i = threadIdx.x;
  assert(count <= blockDim.x);
  row[i] = twice(i) + counter;
  __syncthreads();
  if (i < count) x[i] += row[i] - 100;
  if (i == 0) {
    printf("other: counter %d\n", counter);
    atomicAdd(&total, 10);
  }
}

void add_twice(int* x, int count) { kernel<<<1, 32, 32 * sizeof(int)>>>(x, count); }
