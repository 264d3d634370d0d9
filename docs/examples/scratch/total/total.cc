// SPDX-License-Identifier: Apache-2.0
#include "total/total.h"

#include <algorithm>

#include "kernkit/call/scratch.h"
#include "kernkit/expect.h"

// [scratch]
void total(kernkit::TensorView y, kernkit::TensorView x,
           kernkit::Optional<kernkit::TensorView> scratch) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu_or_cuda().contiguous();
  KERNKIT_EXPECT(y).same_dtype(x).same_device(x).shape(1).contiguous().no_overlap(x);
  if (scratch) KERNKIT_EXPECT(*scratch).no_overlap(x).no_overlap(y);
  const kernkit::Scratch sums(scratch, total_scratch(x), x);

  if constexpr (kernkit::kWithCuda) {
    if (kernkit::is_cuda(x.device())) return total_cuda(y, x, sums.data<float>());
  }
  // [/scratch]
  const float* in = x.data<const float>();
  const int64_t pieces = total_scratch(x) / static_cast<int64_t>(sizeof(float));
  for (int64_t i = 0; i < pieces; ++i) {
    float sum = 0;
    for (int64_t k = i * kPiece; k < std::min((i + 1) * kPiece, x.numel()); ++k) sum += in[k];
    sums.data<float>()[i] = sum;
  }
  float all = 0;
  for (int64_t i = 0; i < pieces; ++i) all += sums.data<float>()[i];
  *y.data<float>() = all;
}
