// expect: a result with a shape is new memory, but an alias shares the memory of an argument
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

kernkit::Tensor op_function(kernkit::Tensor);
KERNKIT_EXPORT(op, "(Tensor(a) x[n]) -> Tensor(a) y[n]", "", op_function)
