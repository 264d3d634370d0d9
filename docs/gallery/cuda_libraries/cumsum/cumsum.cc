// SPDX-License-Identifier: Apache-2.0
#include "cumsum/cumsum.h"

#include "kernkit/expect.h"

void cumsum(kernkit::TensorView y, kernkit::TensorView x) {
  kernkit::Dim n("n");
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).shape(n).cuda().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_overlap(x);
  if (n.value() == 0) return;
  if constexpr (kernkit::kWithCuda) cumsum_cuda(y, x);
}
