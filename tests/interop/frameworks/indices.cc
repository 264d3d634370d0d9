// SPDX-License-Identifier: Apache-2.0
// An op that writes 64-bit elements, which JAX supports only when enabled.
#include "kernkit/shapes/export.h"
#include "kernkit/tensor.h"

namespace {
void positions(kernkit::TensorView y, kernkit::TensorView) {
  for (int64_t i = 0; i < y.numel(); ++i) y.data<int64_t>()[i] = i;
}
}  // namespace

KERNKIT_EXPORT(positions, "(Tensor(out!) y[n]: int64, Tensor x[n]) -> ()", "", positions)
