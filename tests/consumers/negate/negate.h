// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

namespace consumer {
/// y = -x, for float32 on the CPU.
void negate(kernkit::TensorView y, kernkit::TensorView x);
}  // namespace consumer
