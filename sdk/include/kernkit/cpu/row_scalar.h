// SPDX-License-Identifier: Apache-2.0
// Scalar passes over a row: little code, and the same bits as the vectorised passes.
#pragma once

#include <type_traits>

#include "kernkit/apply.h"
#include "kernkit/cpu/reduction.h"

namespace kernkit::cpu::detail {

template <class Op, class... In>
using result_of = std::decay_t<std::invoke_result_t<const Op&, compute_t<In>...>>;

/// Reduces the blocks in the same order as the vector loops of Row: a partial last block first.
template <template <class> class Reduction, class Op, class... In>
KERNKIT_UNFUSED __attribute__((noinline)) KERNKIT_LOCAL auto reduce_scalar(const Op& op, int64_t d,
                                                                           const In*... in) {
  using R = result_of<Op, In...>;
  Reduction<R> lanes;
  const int64_t in_blocks = d & -int64_t{kBlock};
  const auto add = [&](int64_t begin, int64_t padding) {
    R block[kBlock];
    for (int64_t j = 0; j < kBlock; ++j) {
      block[j] = j < padding ? Reduction<R>::kIdentity : op(compute_t<In>(in[begin + j])...);
      asm volatile("");  // prevents vectorisation
    }
    lanes.add(block);
  };
  if (in_blocks != d) add(d - kBlock, kBlock - (d - in_blocks));
  for (int64_t i = 0; i < in_blocks; i += kBlock) add(i, 0);
  return lanes.result();
}

template <class Op, class Out, class... In>
KERNKIT_UNFUSED __attribute__((noinline)) KERNKIT_LOCAL void map_scalar(const Op& op, int64_t d,
                                                                        Out* out, const In*... in) {
  for (int64_t i = 0; i < d; ++i) {
    out[i] = Out(static_cast<compute_t<Out>>(op(compute_t<In>(in[i])...)));
    asm volatile("");  // prevents vectorisation
  }
}

}  // namespace kernkit::cpu::detail
