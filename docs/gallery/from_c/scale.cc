// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"

namespace {

void scale(kernkit::TensorView y, kernkit::TensorView x, double factor) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  const auto op = [f = static_cast<float>(factor)](float v) { return f * v; };
  kernkit::cpu::elementwise(x.numel(), op, y.data<float>(), x.data<const float>());
}

}  // namespace

KERNKIT_EXPORT(scale, "(Tensor(a!) y, Tensor x, float factor) -> ()", "y = x * factor.", scale)
