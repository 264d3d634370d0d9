// SPDX-License-Identifier: Apache-2.0
#include "rms_norm/rms_norm.h"

#include "kernkit/cpu/rows.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void rms_norm(TensorView y, TensorView x, const Optional<TensorView>& weight, double eps) {
  // expect
  Dim n("n");
  Dim d("d");
  KERNKIT_EXPECT(x).dtype(RmsNormTypes{}).cpu_or_cuda().shape(n, d).last_dim_contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  if (weight) {
    KERNKIT_EXPECT(*weight).same_dtype(x).same_device(x).shape(d).contiguous();
    KERNKIT_EXPECT(y).no_overlap(*weight);
  }

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return rms_norm_cuda(y, x, weight, eps);
  }
  dispatch(RmsNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const size_t bytes = 2 * static_cast<size_t>(y.numel()) * sizeof(T);
    cpu::rows(n.value(), d.value(), bytes, RmsNorm<T>(y, x, weight, eps));
  });
}

}  // namespace kernkit::kernels
