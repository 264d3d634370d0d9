// SPDX-License-Identifier: Apache-2.0
#include "shift/shift.h"

#include "kernkit/expect.h"

void shift(kernkit::TensorView y, kernkit::TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_overlap(x);
  KERNKIT_CHECK(x.numel() % 64 == 0, ValueError)
      << "x: " << x.numel() << " elements; expected a multiple of 64";
  if (x.numel() == 0) return;
  if constexpr (kernkit::kWithCuda) shift_cuda(y, x);
}
