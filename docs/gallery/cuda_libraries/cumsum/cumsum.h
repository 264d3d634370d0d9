// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

/// y[i] = x[0] + ... + x[i], in the order that CUB takes.
///
/// x: float32, [n], contiguous, on a CUDA device. y: like x, and no memory of x's.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA).
void cumsum(kernkit::TensorView y, kernkit::TensorView x);

/// The CUDA implementation: arguments are checked and not empty.
void cumsum_cuda(kernkit::TensorView y, kernkit::TensorView x);
