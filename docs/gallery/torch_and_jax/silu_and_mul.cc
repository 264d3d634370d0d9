// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernkit/expect.h"
#include "kernkit/shapes/export.h"

namespace {

void silu_and_mul(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::Dim n("n"), d("d");
  KERNKIT_EXPECT(y).dtype(kernkit::dl_float32).cpu().shape(n, d).contiguous();
  KERNKIT_EXPECT(x).same_dtype(y).same_device(y).shape(n, 2 * d.value()).contiguous().no_overlap(y);
  for (int64_t i = 0; i < n.value(); ++i) {
    const float* gate = x.data<const float>() + i * 2 * d.value();
    const float* up = gate + d.value();
    float* out = y.data<float>() + i * d.value();
    for (int64_t j = 0; j < d.value(); ++j) out[j] = gate[j] / (1 + std::exp(-gate[j])) * up[j];
  }
}

}  // namespace

KERNKIT_EXPORT(silu_and_mul, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()",
               "y = silu(first half of a row of x) * second half.", silu_and_mul)
