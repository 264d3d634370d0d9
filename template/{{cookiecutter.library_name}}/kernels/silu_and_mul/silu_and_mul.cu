// SPDX-License-Identifier: Apache-2.0
#include "kernkit/apply.h"
#include "kernkit/cuda/launch.h"
#include "kernkit/cuda/pack.cuh"
#include "silu_and_mul/silu_and_mul.h"

namespace template_library {
namespace {

using kernkit::cuda::Pack;

constexpr int kMaxThreads = 256;
constexpr int kItems = 4;  // packs per thread

// A block computes tiles of kItems * blockDim.x adjacent packs of one row of y: one tile, or
// several if the call has more tiles than a grid can have blocks. Indices count packs of kWidth
// elements. The index of a tile has 64 bits, an index inside a tile 32 bits.
template <class T, int kWidth>
__global__ void __launch_bounds__(kMaxThreads)
    silu_and_mul_kernel(int64_t tiles, int64_t tiles_per_row, int64_t d, Pack<T, kWidth>* y,
                        const Pack<T, kWidth>* x) {
  const int threads = static_cast<int>(blockDim.x);
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t row = tile / tiles_per_row;
    const int64_t column = (tile - row * tiles_per_row) * threads * kItems;
    const int64_t remaining = d - column;
    const int count = remaining < threads * kItems ? static_cast<int>(remaining) : threads * kItems;
    Pack<T, kWidth>* out = y + row * d + column;
    const Pack<T, kWidth>* gate = x + row * 2 * d + column;
    const Pack<T, kWidth>* up = gate + d;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
      const Pack<T, kWidth> gates = gate[i], ups = up[i];
      Pack<T, kWidth> result;
      for (int j = 0; j < kWidth; ++j) {
        result.values[j] = kernkit::apply_op<T>(SiluAndMul<T>{}, gates.values[j], ups.values[j]);
      }
      out[i] = result;
    }
  }
}

// Launches the kernel on y and x as arrays of packs. A row of y has d packs.
template <class T, int kWidth>
void launch_packs(const kernkit::cuda::Launch& launch, int64_t n, int64_t d, T* y, const T* x) {
  // Short rows get small blocks: whole warps, so that few threads are idle.
  const int64_t threads = d < kMaxThreads ? (d + 31) / 32 * 32 : kMaxThreads;
  const int64_t tiles_per_row = (d + threads * kItems - 1) / (threads * kItems);
  const int64_t tiles = n * tiles_per_row;
  const int64_t blocks = tiles < INT32_MAX ? tiles : INT32_MAX;  // the limit of grid.x
  launch(silu_and_mul_kernel<T, kWidth>, {blocks, threads}, tiles, tiles_per_row, d,
         reinterpret_cast<Pack<T, kWidth>*>(y), reinterpret_cast<const Pack<T, kWidth>*>(x));
}

}  // namespace

void silu_and_mul_cuda(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::cuda::Launch launch(y, x);
  const int64_t n = y.size(0);
  const int64_t d = y.size(1);
  kernkit::dispatch(SiluAndMulTypes{}, x.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    T* out = y.data<T>();
    const T* in = x.data<const T>();
    // A pack has 16 bytes if each row begins at a multiple of 16 bytes, otherwise one element.
    constexpr int kWidth = 16 / sizeof(T);
    const auto addresses = reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in);
    if (d % kWidth == 0 && addresses % 16 == 0) {
      launch_packs<T, kWidth>(launch, n, d / kWidth, out, in);
    } else {
      launch_packs<T, 1>(launch, n, d, out, in);
    }
  });
}

}  // namespace template_library
