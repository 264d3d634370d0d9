// SPDX-License-Identifier: Apache-2.0
// Device code that main.cu and other.cu share. nvcc -rdc=true compiles the files, and a device
// linker joins their code.
#pragma once

#include <cassert>
#include <cstdio>

using Step = int (*)(int);

extern __device__ int calls;              // defined in other.cu
extern __constant__ int offsets[4];       // defined in other.cu
extern __managed__ int total;             // defined in other.cu
extern __device__ Step steps[2];          // defined in other.cu; one element points to triple()
__device__ int add_offset(int x, int i);  // defined in other.cu
__device__ int triple(int x);             // defined in main.cu

// main.cu and other.cu each contain a copy of this function.
template <class T>
__device__ __noinline__ T square(T x) {
  return x * x;
}

/// Launches a kernel of other.cu, which adds twice(i) to x[i].
void add_twice(int* x, int count);
