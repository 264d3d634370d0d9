// expect: no tensor determines the dtype of this output: write a dtype
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor(out!) x[3]) -> ()", "", op_function)
