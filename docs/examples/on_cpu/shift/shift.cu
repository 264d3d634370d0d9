// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"
#include "shift/shift.h"

// [kernel]
__global__ void shift_kernel(float* y, const float* x) {
  __shared__ float tile[64];
  const int64_t i = static_cast<int64_t>(blockIdx.x) * 64 + threadIdx.x;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  y[i] = tile[(threadIdx.x + 63) % 64];
}

void shift_cuda(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(y, x);
  launch(shift_kernel, {x.numel() / 64, 64}, y.data<float>(), x.data<const float>());
}
// [/kernel]
