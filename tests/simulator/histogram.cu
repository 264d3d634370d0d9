// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"
#include "shapes.h"

namespace {

constexpr int kThreads = 128;

__global__ void histogram_kernel(int* counts, const uint8_t* x, int64_t n) {
  __shared__ int of_block[256];
  for (unsigned v = threadIdx.x; v < 256; v += blockDim.x) of_block[v] = 0;
  __syncthreads();
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&of_block[x[i]], 1);
  }
  __syncthreads();
  for (unsigned v = threadIdx.x; v < 256; v += blockDim.x) {
    if (of_block[v] != 0) atomicAdd(&counts[v], of_block[v]);
  }
}

}  // namespace

void histogram(kernkit::TensorView counts, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(counts, x);
  launch(histogram_kernel, {7, kThreads}, counts.data<int>(), x.data<const uint8_t>(), x.numel());
}
