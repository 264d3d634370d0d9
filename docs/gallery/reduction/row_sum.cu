// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"

namespace {

using kernkit::TensorView;

// [kernel]
constexpr int kThreads = 256;

__global__ void row_sum_kernel(int64_t columns, float* y, const float* x) {
  const float* row = x + static_cast<int64_t>(blockIdx.x) * columns;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreads) sum += row[i];
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}

void row_sum(TensorView y, TensorView x) {
  kernkit::Dim rows("rows"), columns("columns");
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().shape(rows, columns).contiguous();
  KERNKIT_EXPECT(y).same_dtype(x).same_device(x).shape(rows).contiguous().no_overlap(x);
  if (rows.value() == 0) return;
  kernkit::cuda::Launch launch(y, x);
  launch(row_sum_kernel, {rows.value(), kThreads}, columns.value(), y.data<float>(),
         x.data<const float>());
}
// [/kernel]

}  // namespace

KERNKIT_EXPORT(row_sum, "(Tensor(a!) y, Tensor x) -> ()", "y[i] = sum of row i of x.", row_sum)
