// expect: the line has shapes or dtypes: include kernkit/shapes/export.h
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x[n]) -> ()", "", op_function)
