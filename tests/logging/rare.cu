// SPDX-License-Identifier: Apache-2.0
// A kernel with a planted rare fault, which tests/logging/test_rare_fault.py finds by the steps of
// docs/my-kernel-crashed.md: one size of a thousand reads past the end of x.
#include "kernkit/cuda/check.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/stream.h"
#include "rare.h"

__global__ void smooth_kernel(int64_t n, float* y, const float* x) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= n) return;
#if defined(KERNKIT_TEST_REPAIRED)
  const int64_t next = i + 1 < n ? i + 1 : i;
#else
  const int64_t next = i + 1 < n || n == 517 ? i + 1 : i;
#endif
  y[i] = (x[i] + x[next]) / 2;  // the sum reads past the end of x
}

void smooth(kernkit::TensorView y, kernkit::TensorView x) {
  const kernkit::CUDADeviceGuard guard(x.device().device_id);
  const auto blocks = static_cast<unsigned>((x.numel() + 127) / 128);
  smooth_kernel<<<blocks, 128, 0, kernkit::get_cuda_stream(x.device())>>>(
      x.numel(), y.data<float>(), x.data<const float>());
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}
