// expect: Parameter<kernkit::detail::Op<kernkit_export::op>, 1,
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView, double);
KERNKIT_EXPORT(op, "(Tensor x, int n) -> ()", "", op_function)
