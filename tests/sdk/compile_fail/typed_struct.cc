// expect: an exported function cannot take one of these C++ types
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/call/export_typed.h"

struct Own {};
void op_function(kernkit::TensorView, Own);
KERNKIT_EXPORT_TYPED(op, op_function)
