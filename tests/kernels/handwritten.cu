// SPDX-License-Identifier: Apache-2.0
// A kernel launched as in hand-written CUDA, for cuda_handwritten_test.
#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/stream.h"
#include "kernkit/tensor.h"

namespace {

struct Range {
  float low, high;
};

template <class T>
__global__ void clamp_kernel(int n, T* x, Range range) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = x[i] < range.low ? range.low : x[i] > range.high ? range.high : x[i];
}

}  // namespace

// [handwritten]
void clamp(kernkit::TensorView x) {
  kernkit::CUDADeviceGuard guard(x.device().device_id);
  cudaStream_t stream = kernkit::get_cuda_stream(x.device());
  clamp_kernel<<<dim3(2, 3), 64, 32, stream>>>(static_cast<int>(x.numel()), x.data<float>(),
                                               Range{0, 1});
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}
// [/handwritten]
