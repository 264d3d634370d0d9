// SPDX-License-Identifier: Apache-2.0
#include "fused_add_rms_norm/fused_add_rms_norm.h"

#include "kernkit/cpu/rows.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void fused_add_rms_norm(TensorView y, TensorView sum, TensorView x, TensorView residual,
                        const Optional<TensorView>& weight, double eps) {
  // expect
  Dim n("n");
  Dim d("d");
  KERNKIT_EXPECT(x).dtype(FusedAddRmsNormTypes{}).cpu_or_cuda().shape(n, d).last_dim_contiguous();
  KERNKIT_EXPECT(residual).like(x).last_dim_contiguous();
  KERNKIT_EXPECT(sum).like(x).contiguous().no_partial_overlap(x).no_partial_overlap(residual);
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x).no_partial_overlap(residual);
  KERNKIT_EXPECT(y).no_overlap(sum);
  if (weight) {
    KERNKIT_EXPECT(*weight).same_dtype(x).same_device(x).shape(d).contiguous();
    KERNKIT_EXPECT(y).no_overlap(*weight);
    KERNKIT_EXPECT(sum).no_overlap(*weight);
  }

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return fused_add_rms_norm_cuda(y, sum, x, residual, weight, eps);
  }
  dispatch(FusedAddRmsNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const size_t bytes = 4 * static_cast<size_t>(y.numel()) * sizeof(T);
    cpu::rows(n.value(), d.value(), bytes, FusedAddRmsNorm<T>(y, sum, x, residual, weight, eps));
  });
}

}  // namespace kernkit::kernels
