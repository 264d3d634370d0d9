// SPDX-License-Identifier: Apache-2.0
#include "layer_norm/layer_norm.h"

#include "kernkit/cpu/rows.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void layer_norm(TensorView y, TensorView x, const Optional<TensorView>& weight,
                const Optional<TensorView>& bias, double eps) {
  // expect
  Dim n("n");
  Dim d("d");
  KERNKIT_EXPECT(x).dtype(LayerNormTypes{}).cpu_or_cuda().shape(n, d).last_dim_contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  KERNKIT_CHECK(weight || !bias, ValueError) << "bias: requires a weight; pass a weight of ones";
  for (const Optional<TensorView>& of_columns : {weight, bias}) {
    if (!of_columns) continue;
    KERNKIT_EXPECT(*of_columns).same_dtype(x).same_device(x).shape(d).contiguous();
    KERNKIT_EXPECT(y).no_overlap(*of_columns);
  }

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return layer_norm_cuda(y, x, weight, bias, eps);
  }
  dispatch(LayerNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const size_t bytes = 2 * static_cast<size_t>(y.numel()) * sizeof(T);
    cpu::rows(n.value(), d.value(), bytes, LayerNorm<T>(y, x, weight, bias, eps));
  });
}

}  // namespace kernkit::kernels
