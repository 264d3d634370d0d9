// SPDX-License-Identifier: Apache-2.0
// How a TensorView prints, and what it refuses.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

KERNKIT_COLD Message& operator<<(Message& out, TensorView x) {
  if (!is_cpu(x.device())) out << x.device() << " ";
  out << x.dtype() << " " << x.sizes();
  return x.is_contiguous() ? out : out << " strides " << x.strides();
}

KERNKIT_COLD void detail::throw_bad_index(TensorView x, int64_t i) {
  KERNKIT_THROW(IndexError) << detail::name_or(x, "tensor") << ": dimension " << i
                            << " does not exist; shape is " << x.sizes();
}

KERNKIT_COLD void detail::throw_bad_shape(TensorView x) {
  KERNKIT_THROW(ValueError) << detail::name_or(x, "tensor") << ": shape " << x.sizes()
                            << " has a negative size or more than 2^63 - 1 elements";
}

KERNKIT_COLD void detail::throw_wrong_type(TensorView x, DLDataType wanted) {
  KERNKIT_THROW(TypeError) << detail::name_or(x, "tensor") << ": dtype " << x.dtype()
                           << " was read as " << wanted;
}

}  // namespace kernkit
