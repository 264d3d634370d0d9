// SPDX-License-Identifier: Apache-2.0
// Kernels with planted faults, which tests/logging/test_equal_replays.py finds by the steps of
// docs/my-kernel-crashed.md. centre() reads an element of shared memory before a store to the
// element, for n = 1 modulo 1024; share() lacks a barrier. The executor fills shared memory with
// the same byte and orders threads in the same way in each run, so the wrong results repeat.
#include "equal.h"
#include "kernkit/cuda/check.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/cuda/stream.h"

namespace {
constexpr int kTile = 1024;
constexpr int kMostTiles = 64;
constexpr int kThreads = 128;
#if defined(KERNKIT_TEST_REPAIRED)
constexpr bool kRepaired = true;
#else
constexpr bool kRepaired = false;
#endif
}  // namespace

__global__ void centre_kernel(int n, float* y, const float* x) {
  __shared__ float means[kMostTiles];
  const int tile = static_cast<int>(threadIdx.x), begin = tile * kTile;
  const int count = n - begin < kTile ? n - begin : kTile;
  if (count > (kRepaired ? 0 : 1)) {
    float sum = 0;
    for (int i = begin; i < begin + count; ++i) sum += x[i];
    means[tile] = sum / static_cast<float>(count);
  }
  __syncthreads();
  for (int i = tile; i < n; i += kMostTiles) {
    y[i] = x[i] - means[i / kTile];  // the read before a store
  }
}

void centre(kernkit::TensorView y, kernkit::TensorView x) {
  const kernkit::CUDADeviceGuard guard(x.device().device_id);
  centre_kernel<<<1, kMostTiles, 0, kernkit::get_cuda_stream(x.device())>>>(
      static_cast<int>(x.numel()), y.data<float>(), x.data<const float>());
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}

__global__ void share_kernel(int n, float* y, const float* x) {
  __shared__ float partial[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  partial[thread] = thread < n ? x[thread] : 0;  // the store
  if constexpr (kRepaired) __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];  // the read without a barrier
    __syncthreads();
  }
  if (thread < n) y[thread] = x[thread] / partial[0];
}

void share(kernkit::TensorView y, kernkit::TensorView x) {
  const kernkit::CUDADeviceGuard guard(x.device().device_id);
  share_kernel<<<1, kThreads, 0, kernkit::get_cuda_stream(x.device())>>>(
      static_cast<int>(x.numel()), y.data<float>(), x.data<const float>());
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}
