// expect: success
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/optional.h"

double op_function(kernkit::TensorView y, const kernkit::TensorView& x, int32_t n, double f,
                   const bool flag, std::string_view text, kernkit::Optional<kernkit::TensorView> o,
                   kernkit::ShapeView sizes) {
  kernkit::Dim d("d");
  KERNKIT_EXPECT(x).dtype(kernkit::floating{}).shape(d, 2 * d, n);
  KERNKIT_CHECK(f > 0 && flag && !o && sizes.empty() && !text.empty(), ValueError) << "f: " << f;
  const float* in = x.data<const float>();
  *y.data<float>() = *in;
  return f;
}
KERNKIT_EXPORT(op,
               "(Tensor(a!) y, Tensor x, int n, float f, bool flag, str text, Tensor? o, "
               "int[] sizes) -> float",
               "", op_function)
