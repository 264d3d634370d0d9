// SPDX-License-Identifier: Apache-2.0
// Kernels with planted faults, which tests/logging/test_on_cpu.py finds: the last thread of shift()
// reads past the end of x, and total() adds to elements of y that nothing has written.
#include "shift.h"

#include "kernkit/cuda/check.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/stream.h"

__global__ void shift_kernel(int64_t n, float* y, const float* x) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = x[i + 1];  // the last thread reads past the end of x
}

void shift(kernkit::TensorView y, kernkit::TensorView x) {
  const kernkit::CUDADeviceGuard guard(x.device().device_id);
  const auto blocks = static_cast<unsigned>((x.numel() + 127) / 128);
  shift_kernel<<<blocks, 128, 0, kernkit::get_cuda_stream(x.device())>>>(x.numel(), y.data<float>(),
                                                                         x.data<const float>());
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}

__global__ void total_kernel(int64_t n, float* y, const float* x) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] += x[i];  // y is uninitialised
}

void total(kernkit::TensorView y, kernkit::TensorView x) {
  const kernkit::CUDADeviceGuard guard(x.device().device_id);
  const auto blocks = static_cast<unsigned>((x.numel() + 127) / 128);
  total_kernel<<<blocks, 128, 0, kernkit::get_cuda_stream(x.device())>>>(x.numel(), y.data<float>(),
                                                                         x.data<const float>());
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}
