// expect: a parameter needs a name after its type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor) -> ()", "", op_function)
