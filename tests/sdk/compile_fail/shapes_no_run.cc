// expect: no required input determines '...'
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor(out!) x[...]) -> ()", "", op_function)
