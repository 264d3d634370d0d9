// SPDX-License-Identifier: Apache-2.0
// A library in one file, which needs nothing but an include path.
#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"

// [kernel]
void leaky_relu(kernkit::TensorView y, kernkit::TensorView x, double slope) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  const auto op = [s = static_cast<float>(slope)](float v) { return v > 0 ? v : s * v; };
  kernkit::cpu::elementwise(x.numel(), op, y.data<float>(), x.data<const float>());
}
KERNKIT_EXPORT(leaky_relu, "(Tensor(a!) y, Tensor x, float slope=0.01) -> ()",
               "y = x where x > 0, slope * x elsewhere.", leaky_relu)
// [/kernel]
