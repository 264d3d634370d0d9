// SPDX-License-Identifier: Apache-2.0
#include "matmul/matmul.h"

#include <algorithm>

#include "kernkit/expect.h"

void matmul(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b) {
  kernkit::Dim m("m"), n("n"), k("k");
  KERNKIT_EXPECT(a).dtype(kernkit::dl_float32).shape(m, k).cuda().contiguous();
  KERNKIT_EXPECT(b).same_dtype(a).shape(k, n).same_device(a).contiguous();
  KERNKIT_EXPECT(c).same_dtype(a).shape(m, n).same_device(a).contiguous();
  KERNKIT_EXPECT(c).no_overlap(a).no_overlap(b);
  KERNKIT_CHECK(std::max({m.value(), n.value(), k.value()}) <= INT32_MAX, ValueError)
      << "a size is above 2^31 - 1";
  KERNKIT_CHECK(k.value() > 0, ValueError) << "k must not be 0";
  if (c.numel() == 0) return;
  if constexpr (kernkit::kWithCuda) matmul_cuda(c, a, b);
}
