// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "kernkit/expect.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::Tensor;
using kernkit::TensorView;

std::tuple<Tensor, Tensor> row_max(TensorView x) {
  kernkit::Dim n("n"), d("d");
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().shape(n, d).contiguous();
  KERNKIT_CHECK(d.value() > 0, ValueError) << "x: rows must not be empty";
  Tensor values = kernkit::alloc_tensor({n.value()}, x.dtype(), x.device());
  Tensor indices = kernkit::alloc_tensor({n.value()}, kernkit::dl_int64, x.device());
  for (int64_t i = 0; i < n.value(); ++i) {
    const float* row = x.data<const float>() + i * d.value();
    const float* largest = std::max_element(row, row + d.value());
    values.data<float>()[i] = *largest;
    indices.data<int64_t>()[i] = largest - row;
  }
  return {values, indices};
}

}  // namespace

KERNKIT_EXPORT(row_max, "(Tensor x[n, d]) -> (Tensor values[n], Tensor indices[n]: int64)",
               "Returns the first largest element of each row, and its column.", row_max)
