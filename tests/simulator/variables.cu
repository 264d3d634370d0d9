// SPDX-License-Identifier: Apache-2.0
#include "variables.h"

namespace kernkit {

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int calls = 5;
static __device__ double sums[3];
__device__ int* where = &calls;
__managed__ int everywhere = 7;

namespace {

__global__ void use_variables(double* results) {
  results[0] = weights[0] + 10 * weights[3];
  results[1] = atomicAdd(where, 1);
  results[2] = sums[1];
  sums[2] = 2 * sums[1];
  results[3] = everywhere;
  everywhere += 100;
}
__global__ void use_much(double* results) {
  __shared__ double block[96];
  double local[64];
  for (int i = 0; i < 64; ++i) local[i] = results[i % 4];
  block[threadIdx.x] = local[static_cast<int>(results[4]) & 63];
  __syncthreads();
  results[32 + threadIdx.x] = block[95 - threadIdx.x] + weights[0];  // same value in each block
}
__global__ __launch_bounds__(96) void use_little(double* results) { *results = 1; }

}  // namespace

cudaError_t launch_use_variables(double* results, cudaStream_t stream) {
  use_variables<<<1, 1, 0, stream>>>(results);
  return cudaGetLastError();
}
cudaError_t launch_use_little(double* results, int threads) {
  use_little<<<1, threads>>>(results);
  return cudaGetLastError();
}

Symbols symbols() { return {weights, &calls, sums, &everywhere, &where}; }
int& host_view() { return everywhere; }
const void* kernel_that_uses_much() { return reinterpret_cast<const void*>(use_much); }
const void* kernel_that_uses_little() { return reinterpret_cast<const void*>(use_little); }

}  // namespace kernkit
