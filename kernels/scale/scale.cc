// SPDX-License-Identifier: Apache-2.0
#include "scale/scale.h"

#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

// [scale]
void scale(TensorView y, TensorView x, double factor) {
  // expect
  KERNKIT_EXPECT(x).dtype(ScaleTypes{}).cpu_or_cuda().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);

  // early-out
  const int64_t n = x.numel();
  if (n == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return scale_cuda(y, x, factor);
  }
  dispatch(ScaleTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    const Scale<T> op{static_cast<compute_t<T>>(factor)};
    cpu::elementwise(n, op, y.data<T>(), x.data<const T>());
  });
}
// [/scale]

}  // namespace kernkit::kernels
