// expect: a name that begins with two underscores is reserved
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor __x) -> ()", "", op_function)
