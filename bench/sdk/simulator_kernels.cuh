// SPDX-License-Identifier: Apache-2.0
// The kernels of simulator_bench. g++ and nvcc compile this file, each in a namespace of its own.
#include <cuda_runtime.h>

#include "sdk/simulator_kernels.h"

namespace kernkit::bench::KERNKIT_BENCH_VARIANT {

__global__ void no_barrier(float* y, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
__global__ void one_barrier(float* y, const float* x) {
  __shared__ float tile[kThreads];
  const unsigned first = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  y[first + threadIdx.x] = 2 * tile[kThreads - 1 - threadIdx.x];
}
__global__ void five_shuffles(float* y, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = x[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  y[i] = sum;
}

__global__ void rms_norm(float* y, const float* x) {
  __shared__ float of_warps[kThreads / 32];
  y += blockIdx.x * kColumns;
  x += blockIdx.x * kColumns;
  float sum = 0;
  for (unsigned i = threadIdx.x; i < kColumns; i += kThreads) sum += x[i] * x[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (const float of_warp : of_warps) sum += of_warp;
  const float factor = 1 / sqrtf(sum / kColumns);
  for (unsigned i = threadIdx.x; i < kColumns; i += kThreads) y[i] = x[i] * factor;
}

void launch(Kernel kernel, unsigned blocks, unsigned threads, float* y, const float* x) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  switch (kernel) {
    case Kernel::kNoBarrier: cudaLaunchKernelEx(&config, no_barrier, y, x); return;
    case Kernel::kOneBarrier: cudaLaunchKernelEx(&config, one_barrier, y, x); return;
    case Kernel::kFiveShuffles: cudaLaunchKernelEx(&config, five_shuffles, y, x); return;
    case Kernel::kRmsNorm: cudaLaunchKernelEx(&config, rms_norm, y, x); return;
  }
}

}  // namespace kernkit::bench::KERNKIT_BENCH_VARIANT
