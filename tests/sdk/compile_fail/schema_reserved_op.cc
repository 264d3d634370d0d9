// expect: an op's name that begins with two underscores is reserved
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(__op, "(Tensor x) -> ()", "", op_function)
