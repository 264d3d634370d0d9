// SPDX-License-Identifier: Apache-2.0
#include "add/add.h"

#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"

namespace kernkit::kernels {

void add(TensorView z, TensorView x, TensorView y) {
  // expect
  KERNKIT_EXPECT(x).dtype(AddTypes{}).cpu_or_cuda().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous();
  KERNKIT_EXPECT(z).like(x).contiguous().no_partial_overlap(x).no_partial_overlap(y);

  // early-out
  const int64_t n = x.numel();
  if (n == 0) return;

  // dispatch
  if constexpr (kWithCuda) {
    if (is_cuda(x.device())) return add_cuda(z, x, y);
  }
  dispatch(AddTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    // launch
    cpu::elementwise(n, Add<T>{}, z.data<T>(), x.data<const T>(), y.data<const T>());
  });
}

}  // namespace kernkit::kernels
