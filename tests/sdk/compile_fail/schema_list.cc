// expect: a list is written int[], without a length
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(int[3] x) -> ()", "", op_function)
