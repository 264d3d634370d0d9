// expect: a size has the name of a parameter that is not an int
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[x]) -> ()", "", op_function)
