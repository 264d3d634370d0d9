// expect: only a Tensor has a shape or a dtype
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(int64_t);
KERNKIT_EXPORT(op, "(int n[3]) -> ()", "", op_function)
