// expect: an exported function cannot take this C++ type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

struct Own {};
void op_function(Own);
KERNKIT_EXPORT(op, "(int x) -> ()", "", op_function)
