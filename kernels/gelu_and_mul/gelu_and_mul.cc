// SPDX-License-Identifier: Apache-2.0
#include "gelu_and_mul/gelu_and_mul.h"

#include "kernkit/cpu/rows.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void gelu_and_mul(TensorView y, TensorView x) {
  // expect
  Dim n("n");
  Dim d("d");
  KERNKIT_EXPECT(y).dtype(GeluAndMulTypes{}).cpu_or_cuda().shape(n, d).contiguous();
  KERNKIT_EXPECT(x).same_dtype(y).same_device(y).shape(n, 2 * d).last_dim_contiguous();
  KERNKIT_EXPECT(y).no_overlap(x);

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return gelu_and_mul_cuda(y, x);
  }
  dispatch(GeluAndMulTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const size_t bytes = 3 * static_cast<size_t>(y.numel()) * sizeof(T);
    cpu::rows(n.value(), d.value(), bytes, GeluAndMul<T>(y, x));
  });
}

}  // namespace kernkit::kernels
