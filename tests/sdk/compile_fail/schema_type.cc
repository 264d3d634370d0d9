// expect: kernkit schema: unknown type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tenso x) -> ()", "", op_function)
