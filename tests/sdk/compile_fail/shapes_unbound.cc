// expect: no required input binds this name: write n or a multiple such as 2*n
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n * m]) -> ()", "", op_function)
