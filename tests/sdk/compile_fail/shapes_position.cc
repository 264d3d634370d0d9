// expect: ShapeDiagnostics<kernkit::schema::ShapeError::kUnknownSize, 16>
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor(out!) y[k]) -> ()", "", op_function)
