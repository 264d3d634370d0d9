// expect: an exported function cannot take this C++ type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(const char*);
KERNKIT_EXPORT(op, "(str x) -> ()", "", op_function)
