// expect: no input determines this name of an output's size
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor(out!) x[k]) -> ()", "", op_function)
