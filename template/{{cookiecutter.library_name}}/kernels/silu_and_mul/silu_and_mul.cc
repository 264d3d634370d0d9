// SPDX-License-Identifier: Apache-2.0
#include "silu_and_mul/silu_and_mul.h"

#include "kernkit/cpu/elementwise.h"
#include "kernkit/cpu/parallel.h"
#include "kernkit/expect.h"

namespace template_library {

void silu_and_mul(kernkit::TensorView y, kernkit::TensorView x) {
  // expect
  kernkit::Dim n("n");
  kernkit::Dim d("d");
  //@ if cuda
  KERNKIT_EXPECT(y).dtype(SiluAndMulTypes{}).cpu_or_cuda().shape(n, d).contiguous();
  //@ else
  //: KERNKIT_EXPECT(y).dtype(SiluAndMulTypes{}).cpu().shape(n, d).contiguous();
  //@ end
  KERNKIT_EXPECT(x).same_dtype(y).same_device(y).shape(n, 2 * d).contiguous();
  KERNKIT_EXPECT(y).no_overlap(x);

  // early-out
  if (y.numel() == 0) return;

  // dispatch
  //@ if cuda
  if constexpr (kernkit::kWithCuda) {
    if (kernkit::is_cuda(x.device())) return silu_and_mul_cuda(y, x);
  }
  //@ end
  kernkit::dispatch(SiluAndMulTypes{}, x.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    // launch
    const int64_t columns = d.value();
    const int64_t rows_at_once = 1 + 4096 / columns;  // some 10 us: less is not worth a thread
    kernkit::cpu::parallel_for(n.value(), rows_at_once, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* out = y.data<T>() + row * columns;
        const T* gate = x.data<const T>() + row * 2 * columns;
        const T* up = gate + columns;
        kernkit::cpu::elementwise(columns, SiluAndMul<T>{}, out, gate, up);
      }
    });
  });
}

}  // namespace template_library
