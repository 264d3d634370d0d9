// expect: expected a size: a number, a name, _, ...
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[2n]) -> ()", "", op_function)
