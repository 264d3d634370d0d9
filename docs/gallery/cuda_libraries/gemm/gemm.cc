// SPDX-License-Identifier: Apache-2.0
#include "gemm/gemm.h"

#include "kernkit/expect.h"

void gemm(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b) {
  kernkit::Dim m("m"), n("n"), k("k");
  KERNKIT_EXPECT(a).dtype(kernkit::dl_float16).shape(m, k).cuda().contiguous().aligned(16);
  KERNKIT_EXPECT(b).same_dtype(a).shape(n, k).same_device(a).contiguous().aligned(16);
  KERNKIT_EXPECT(c).same_dtype(a).shape(m, n).same_device(a).contiguous().aligned(16);
  KERNKIT_EXPECT(c).no_overlap(a).no_overlap(b);
  KERNKIT_CHECK(k.value() % 8 == 0 && n.value() % 8 == 0, ValueError)
      << "k = " << k.value() << " and n = " << n.value() << " must be multiples of 8";
  KERNKIT_CHECK(k.value() > 0, ValueError) << "k must not be 0";
  KERNKIT_CHECK(a.numel() <= INT32_MAX && b.numel() <= INT32_MAX && c.numel() <= INT32_MAX,
                ValueError)
      << "a tensor has 2^31 elements or more";
  if (c.numel() == 0) return;
  if constexpr (kernkit::kWithCuda) gemm_cuda(c, a, b);
}
