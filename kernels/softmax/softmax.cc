// SPDX-License-Identifier: Apache-2.0
#include "softmax/softmax.h"

#include "kernkit/cpu/rows.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void softmax(TensorView y, TensorView x) {
  // expect
  Dim n("n");
  Dim d("d");
  KERNKIT_EXPECT(x).dtype(SoftmaxTypes{}).cpu_or_cuda().shape(n, d).last_dim_contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return softmax_cuda(y, x);
  }
  dispatch(SoftmaxTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const size_t bytes = 2 * static_cast<size_t>(y.numel()) * sizeof(T);
    cpu::rows(n.value(), d.value(), bytes, Softmax<T>(y, x));
  });
}

}  // namespace kernkit::kernels
