// expect: does not match the parameter's type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(float x=high) -> ()", "", op_function)
