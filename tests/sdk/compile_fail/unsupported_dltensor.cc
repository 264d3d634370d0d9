// expect: an exported function cannot take this C++ type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(DLTensor*);
KERNKIT_EXPORT(op, "(Tensor x) -> ()", "", op_function)
