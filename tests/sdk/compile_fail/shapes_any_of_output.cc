// expect: _ is for inputs only; an output's size must follow from the inputs
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor(out!) x[_]) -> ()", "", op_function)
