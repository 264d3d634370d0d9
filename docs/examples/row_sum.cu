// SPDX-License-Identifier: Apache-2.0
// A kernel of one's own: y[i] = sum of row i of x.
#include "kernkit/cuda/launch.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

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
  Dim rows("rows"), columns("columns");
  KERNKIT_EXPECT(x).dtype(dl_float32).cuda().shape(rows, columns).contiguous();
  KERNKIT_EXPECT(y).dtype(dl_float32).same_device(x).shape(rows).contiguous().no_overlap(x);
  cuda::Launch launch(y, x);
  launch(row_sum_kernel, {rows.value(), kThreads}, columns.value(), y.data<float>(),
         x.data<const float>());
}
// [/kernel]

}  // namespace kernkit::kernels
