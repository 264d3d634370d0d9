// expect: success
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"

#include <tuple>

std::tuple<double, int> op_function(kernkit::TensorView);
KERNKIT_EXPORT(op, "(Tensor x) -> (float, int)", "", op_function)
