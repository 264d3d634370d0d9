// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/dynamic_shared.h"
#include "kernkit/cuda/launch.h"
#include "kernkit/dispatch.h"
#include "shapes.h"

namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;  // rows of threads; each thread moves kTile / kRows elements

// A tile's rows have one extra element, so that the elements of a column are in different banks of
// shared memory.
template <class T>
__global__ void transpose_kernel(T* y, const T* x, int64_t m, int64_t n) {
  T* tile = kernkit::cuda::dynamic_shared<T>();
  const auto column = static_cast<int>(threadIdx.x);
  const int64_t i0 = int64_t{blockIdx.y} * kTile, j0 = int64_t{blockIdx.x} * kTile;
  for (auto row = static_cast<int>(threadIdx.y); row < kTile; row += kRows) {
    if (i0 + row < m && j0 + column < n) {
      tile[row * (kTile + 1) + column] = x[(i0 + row) * n + j0 + column];
    }
  }
  __syncthreads();
  for (auto row = static_cast<int>(threadIdx.y); row < kTile; row += kRows) {
    if (j0 + row < n && i0 + column < m) {
      y[(j0 + row) * m + i0 + column] = tile[column * (kTile + 1) + row];
    }
  }
}

}  // namespace

void transpose(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(y, x);
  const int64_t m = x.size(0), n = x.size(1);
  kernkit::dispatch(kernkit::types<float, double>{}, x.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    const size_t bytes = kTile * (kTile + 1) * sizeof(T);
    launch(transpose_kernel<T>,
           {{(n + kTile - 1) / kTile, (m + kTile - 1) / kTile}, {kTile, kRows}, bytes}, y.data<T>(),
           x.data<const T>(), m, n);
  });
}
