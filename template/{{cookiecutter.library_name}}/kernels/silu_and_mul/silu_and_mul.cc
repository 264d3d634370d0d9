// SPDX-License-Identifier: Apache-2.0
#include "silu_and_mul/silu_and_mul.h"

#include "kernkit/cpu/rows.h"
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
    const size_t bytes = 3 * static_cast<size_t>(y.numel()) * sizeof(T);  // read and written
    T* out = y.data<T>();
    const T* in = x.data<const T>();
    kernkit::cpu::rows(n.value(), columns, bytes, [=](const auto& row, int64_t r) {
      const T* gate = in + r * 2 * columns;
      row.map(SiluAndMul<T>{}, out + r * columns, gate, gate + columns);
    });
  });
}

}  // namespace template_library
