// expect: after a size
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n 2]) -> ()", "", op_function)
