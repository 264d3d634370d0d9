// SPDX-License-Identifier: Apache-2.0
#include "total/total.h"

#include "kernkit/cuda/launch.h"

namespace {

// Each thread sums one piece in order. The order of atomic additions could differ between runs.
__global__ void sum_pieces(int64_t n, const float* x, float* sums) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i * kPiece >= n) return;
  float sum = 0;
  for (int64_t k = i * kPiece; k < (i + 1) * kPiece && k < n; ++k) sum += x[k];
  sums[i] = sum;
}

__global__ void sum_sums(int64_t pieces, const float* sums, float* y) {
  float sum = 0;
  for (int64_t i = 0; i < pieces; ++i) sum += sums[i];
  *y = sum;
}

}  // namespace

void total_cuda(kernkit::TensorView y, kernkit::TensorView x, float* sums) {
  kernkit::cuda::Launch launch(y, x);
  const int64_t pieces = total_scratch(x) / static_cast<int64_t>(sizeof(float));
  if (pieces > 0)
    launch(sum_pieces, {(pieces + 63) / 64, 64}, x.numel(), x.data<const float>(), sums);
  launch(sum_sums, {1, 1}, pieces, sums, y.data<float>());
}
