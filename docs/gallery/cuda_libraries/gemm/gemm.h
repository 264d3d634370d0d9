// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

/// c = a @ b^T on tensor cores, summed in float32.
///
/// a: float16, [m, k], contiguous, on a CUDA device; k is a multiple of 8. b: float16, [n, k],
/// contiguous. c: float16, [m, n], contiguous; n is a multiple of 8. c must not overlap a or b.
/// Each tensor has fewer than 2^31 elements. Throws TypeError (dtype), ValueError (shape, device,
/// layout, overlap), RuntimeError (CUDA).
void gemm(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b);

/// The CUDA implementation, which requires checked arguments that are not empty.
void gemm_cuda(kernkit::TensorView c, kernkit::TensorView a, kernkit::TensorView b);
