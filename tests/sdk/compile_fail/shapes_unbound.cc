// expect: no required input binds this name: write it alone (n) or times a
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n * m]) -> ()", "", op_function)
