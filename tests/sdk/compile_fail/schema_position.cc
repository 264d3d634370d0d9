// expect: SchemaLine<kernkit::schema::ParseError::kType, 11>
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x, double y) -> ()", "", op_function)
