// expect: success
// SPDX-License-Identifier: Apache-2.0
// [half]
__device__ unsigned lane() {
#if defined(__CUDACC__)
  unsigned result;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(result));
  return result;
#else
  return threadIdx.x % 32;
#endif
}
// [/half]
__global__ void kernel(float* x) {
  alignas(16) __shared__ float tile[4];
  tile[threadIdx.x] = static_cast<float>(lane());
  __syncthreads();
  x[0] = tile[0];
}
