// SPDX-License-Identifier: Apache-2.0
#include "rms_norm_fp8/rms_norm_fp8.h"

#include "kernkit/cpu/rows.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void rms_norm_fp8(TensorView y, TensorView scale, TensorView x, TensorView weight, double eps) {
  // expect
  Dim n("n");
  Dim d("d");
  KERNKIT_EXPECT(x).dtype(RmsNormFp8Types{}).cpu_or_cuda().shape(n, d).last_dim_contiguous();
  KERNKIT_EXPECT(weight).same_dtype(x).same_device(x).shape(d).contiguous();
  KERNKIT_EXPECT(y).dtype(dtype_of<float8_e4m3fn>).same_device(x).shape(n, d).contiguous();
  KERNKIT_EXPECT(y).no_overlap(x).no_overlap(weight);
  KERNKIT_EXPECT(scale).dtype(dl_float32).same_device(x).shape(n).contiguous();
  KERNKIT_EXPECT(scale).no_overlap(x).no_overlap(weight).no_overlap(y);

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return rms_norm_fp8_cuda(y, scale, x, weight, eps);
  }
  dispatch(RmsNormFp8Types{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const size_t bytes = static_cast<size_t>(y.numel()) * (sizeof(T) + 1);
    cpu::rows(n.value(), d.value(), bytes, RmsNormFp8<T>(y, scale, x, weight, eps));
  });
}

}  // namespace kernkit::kernels
