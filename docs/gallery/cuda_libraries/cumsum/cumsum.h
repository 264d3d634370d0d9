// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

/// y[i] = x[0] + ... + x[i], added in the order that CUB chooses.
///
/// x: float32, [n], contiguous, on a CUDA device. y: like x; it must not overlap x. Throws
/// TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA).
void cumsum(kernkit::TensorView y, kernkit::TensorView x);

/// The CUDA implementation, which requires checked arguments that are not empty.
void cumsum_cuda(kernkit::TensorView y, kernkit::TensorView x);
