// SPDX-License-Identifier: Apache-2.0
// sum_of_seven: an op with eight tensors, whose benchmark measures the cost of arguments.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit::bench {

/// y = a + b + c + d + e + f + g, elementwise. All are float32 [n], contiguous, on the CPU.
/// Throws TypeError (dtype), ValueError (shape, device, layout).
void sum_of_seven(TensorView y, TensorView a, TensorView b, TensorView c, TensorView d,
                  TensorView e, TensorView f, TensorView g);

}  // namespace kernkit::bench
