// SPDX-License-Identifier: Apache-2.0
// The CUDA loop of an elementwise op.
#pragma once

#include <type_traits>

#include "kernkit/cuda/launch.h"

namespace kernkit::cuda {

inline constexpr int kElementwiseThreads = 256;
inline constexpr int kElementwiseItems = 4;  // per thread
inline constexpr int kElementwiseTile = kElementwiseThreads * kElementwiseItems;

// One tile per block. The index is 64-bit once per block and 32-bit inside it.
template <class Op, class Out, class... In>
__global__ void __launch_bounds__(kElementwiseThreads)
    elementwise_kernel(int64_t n, Op op, Out* out, const In*... in) {
  const int64_t tile = static_cast<int64_t>(blockIdx.x) * kElementwiseTile;
  const int64_t left = n - tile;
  const int count = left < kElementwiseTile ? static_cast<int>(left) : kElementwiseTile;
#pragma unroll
  for (int item = 0; item < kElementwiseItems; ++item) {
    const int i = item * kElementwiseThreads + static_cast<int>(threadIdx.x);
    if (i < count) out[tile + i] = op(in[tile + i]...);
  }
}

/// out[i] = op(in[i]...) for i in [0, n), n <= 2^40, on the launch's stream. `out` may be one of
/// the inputs (exactly in place); otherwise they must not overlap. n = 0 launches nothing.
template <class Op, class Out, class... In>
void elementwise(const Launch& launch, int64_t n, const Op& op, Out* out, const In*... in) {
  static_assert(!std::is_const_v<Out>,
                "elementwise: the output comes before the inputs and is written: y.data<T>()");
  static_assert(std::is_invocable_r_v<Out, const Op&, In...>,
                "elementwise: op does not take these inputs, or does not return an output's type");
  if (n == 0) return;
  const int64_t blocks = (n + kElementwiseTile - 1) / kElementwiseTile;
  launch(elementwise_kernel<Op, Out, In...>, dim3(static_cast<unsigned>(blocks)),
         dim3(kElementwiseThreads), n, op, out, in...);
}

}  // namespace kernkit::cuda
