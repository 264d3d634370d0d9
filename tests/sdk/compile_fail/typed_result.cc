// expect: an exported function cannot return this C++ type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/call/export_typed.h"

const float* op_function(kernkit::TensorView);
KERNKIT_EXPORT_TYPED(op, op_function)
