// expect: include kernkit/shapes/export.h for shapes and dtypes
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n]) -> ()", "", op_function)
