// expect: the type in the schema line and the C++ parameter's type do not
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(int64_t);
KERNKIT_EXPORT(op, "(float x) -> ()", "", op_function)
