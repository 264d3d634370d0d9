// expect: a parameter without a default follows one that has a default
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(int a=1, int b) -> ()", "", op_function)
