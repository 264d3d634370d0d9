// expect: '?' may only follow a name, in the shape of a Tensor(out!)
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n?]) -> ()", "", op_function)
