// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

/// c = a @ b.
///
/// a: float32, [m, k], contiguous, on a CUDA device. b: float32, [k, n], contiguous. c: float32,
/// [m, n], contiguous; it must not overlap a or b. Sizes are at most 2^31 - 1. Throws TypeError
/// (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA, cuBLAS).
void matmul(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b);

/// The CUDA implementation, which requires checked arguments that are not empty.
void matmul_cuda(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b);
