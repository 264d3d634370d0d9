// expect: expected ',' or ')' in the results
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x) -> (int; int)", "", op_function)
