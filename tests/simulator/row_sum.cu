// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"
#include "shapes.h"

namespace {

constexpr int kThreads = 256;

__device__ float warp_sum(float value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  return value;
}

__global__ void __launch_bounds__(kThreads) row_sum_kernel(float* sums, const float* x, int64_t n) {
  __shared__ float of_warps[kThreads / 32];
  const float* row = x + blockIdx.x * n;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += row[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < kThreads / 32 ? of_warps[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}

}  // namespace

void row_sum(kernkit::TensorView sums, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(sums, x);
  launch(row_sum_kernel, {x.size(0), kThreads}, sums.data<float>(), x.data<const float>(),
         x.size(1));
}
