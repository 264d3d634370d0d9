// expect: there is no tensor whose dtype this output could have: write one
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor(out!) x[3]) -> ()", "", op_function)
