// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/optional.h"
#include "kernkit/tensor.h"

// [size]
constexpr int64_t kPiece = 256;

/// Returns the size of the scratch that total() needs for x, on every device [bytes].
inline int64_t total_scratch(kernkit::TensorView x) {
  return (x.numel() + kPiece - 1) / kPiece * static_cast<int64_t>(sizeof(float));
}
// [/size]

/// y [1] = the sum of x, float32, added in the same order in every run and on every device.
void total(kernkit::TensorView y, kernkit::TensorView x,
           kernkit::Optional<kernkit::TensorView> scratch);
void total_cuda(kernkit::TensorView y, kernkit::TensorView x, float* sums);
