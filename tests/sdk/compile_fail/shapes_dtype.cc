// expect: expected after ':' a dtype, or the name of a tensor that is read or
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n]: double) -> ()", "", op_function)
