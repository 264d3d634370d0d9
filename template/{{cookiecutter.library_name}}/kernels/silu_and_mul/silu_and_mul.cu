// SPDX-License-Identifier: Apache-2.0
#include "kernkit/apply.h"
#include "kernkit/cuda/launch.h"
#include "silu_and_mul/silu_and_mul.h"

namespace template_library {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kItems = 4;  // per thread

// A tile is kItems * blockDim.x neighbours of one row of y, and a block's work; the loop is for
// more tiles than a grid has blocks. Indices are 64-bit once per tile and 32-bit inside it.
template <class T>
__global__ void __launch_bounds__(kMaxThreads)
    silu_and_mul_kernel(int64_t tiles, int64_t tiles_per_row, int64_t d, T* y, const T* x) {
  const int threads = static_cast<int>(blockDim.x);
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t row = tile / tiles_per_row;
    const int64_t column = (tile - row * tiles_per_row) * threads * kItems;
    const int64_t left = d - column;
    const int count = left < threads * kItems ? static_cast<int>(left) : threads * kItems;
    T* out = y + row * d + column;
    const T* gate = x + row * 2 * d + column;
    const T* up = gate + d;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
      out[i] = kernkit::apply_op<T>(SiluAndMul<T>{}, gate[i], up[i]);
    }
  }
}

}  // namespace

void silu_and_mul_cuda(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(y, x);
  const int64_t n = y.size(0);
  const int64_t d = y.size(1);
  // Short rows get small blocks: whole warps, so that few threads are idle.
  const int64_t threads = d < kMaxThreads ? (d + 31) / 32 * 32 : kMaxThreads;
  const int64_t tiles_per_row = (d + threads * kItems - 1) / (threads * kItems);
  const int64_t tiles = n * tiles_per_row;
  const int64_t blocks = tiles < INT32_MAX ? tiles : INT32_MAX;  // the limit of grid.x
  kernkit::dispatch(SiluAndMulTypes{}, x.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    launch(silu_and_mul_kernel<T>, {blocks, threads}, tiles, tiles_per_row, d, y.data<T>(),
           x.data<const T>());
  });
}

}  // namespace template_library
