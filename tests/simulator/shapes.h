// SPDX-License-Identifier: Apache-2.0
// Kernels that are not elementwise, written as for a GPU.
#pragma once

#include "kernkit/tensor.h"

/// sums[b] = the sum of row b of x [rows, n], float32.
void row_sum(kernkit::TensorView sums, kernkit::TensorView x);
/// y [n, m] = x [m, n] transposed; float32 or float64.
void transpose(kernkit::TensorView y, kernkit::TensorView x);
/// Adds to counts[v] the number of occurrences of v in x. x is uint8; counts has 256 int32.
void histogram(kernkit::TensorView counts, kernkit::TensorView x);
/// y[i] = x[0] + ... + x[i], int32, one pass; `state`, int32 of 1 + 3 * blocks, is all zero.
void inclusive_scan(kernkit::TensorView y, kernkit::TensorView x, kernkit::TensorView state);
inline constexpr int kScanThreads = 128;
