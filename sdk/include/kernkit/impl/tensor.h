// SPDX-License-Identifier: Apache-2.0
// How a TensorView prints, and what it refuses.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

KERNKIT_COLD Message& operator<<(Message& out, const TensorView& x) {
  if (!is_cpu(x.device())) out << x.device() << " ";
  out << x.dtype() << " " << x.sizes();
  return x.is_contiguous() ? out : out << " strides " << x.strides();
}

KERNKIT_COLD void TensorView::throw_bad_index(int64_t i) const {
  KERNKIT_THROW(IndexError) << detail::name_or(*this, "tensor") << ": dimension " << i
                            << " does not exist; shape is " << sizes();
}

KERNKIT_COLD void TensorView::throw_bad_shape() const {
  KERNKIT_THROW(ValueError) << detail::name_or(*this, "tensor") << ": shape " << sizes()
                            << " has a negative size or more than 2^63 - 1 elements";
}

KERNKIT_COLD void TensorView::throw_wrong_type(DLDataType wanted) const {
  KERNKIT_THROW(TypeError) << detail::name_or(*this, "tensor") << ": dtype " << dtype()
                           << " was read as " << wanted;
}

}  // namespace kernkit
