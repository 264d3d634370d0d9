// SPDX-License-Identifier: Apache-2.0
#include "negate/negate.h"

#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"

namespace consumer {

void negate(kernkit::TensorView y, kernkit::TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  if (x.numel() == 0) return;
  const auto op = [](float value) { return -value; };
  kernkit::cpu::elementwise(x.numel(), op, y.data<float>(), x.data<const float>());
}

}  // namespace consumer
