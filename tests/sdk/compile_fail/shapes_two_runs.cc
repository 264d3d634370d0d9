// expect: a shape contains '...' more than once
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[..., ...]) -> ()", "", op_function)
