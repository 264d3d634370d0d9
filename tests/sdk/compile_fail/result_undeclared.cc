// expect: the results in the schema line do not match the C++ function's result type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

int op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x) -> ()", "", op_function)
