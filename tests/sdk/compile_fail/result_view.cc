// expect: an exported function cannot return this C++ type
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

kernkit::TensorView op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x) -> Tensor", "", op_function)
