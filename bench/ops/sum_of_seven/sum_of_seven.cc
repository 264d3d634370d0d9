// SPDX-License-Identifier: Apache-2.0
#include "sum_of_seven.h"

#include "kernkit/expect.h"

namespace kernkit::bench {

void sum_of_seven(TensorView y, TensorView a, TensorView b, TensorView c, TensorView d,
                  TensorView e, TensorView f, TensorView g) {
  // expect
  Dim n("n");
  KERNKIT_EXPECT(y).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(a).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(b).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(c).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(d).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(e).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(f).shape(n).dtype(dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(g).shape(n).dtype(dl_float32).cpu().contiguous();

  // launch
  for (int64_t i = 0; i < n.value(); ++i) {
    y.data<float>()[i] = a.data<const float>()[i] + b.data<const float>()[i] +
                         c.data<const float>()[i] + d.data<const float>()[i] +
                         e.data<const float>()[i] + f.data<const float>()[i] +
                         g.data<const float>()[i];
  }
}

}  // namespace kernkit::bench
