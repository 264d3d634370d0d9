// SPDX-License-Identifier: Apache-2.0
// Ops with planted faults whose wrong results are equal in each replay on the CPU.
#pragma once

#include "kernkit/tensor.h"

/// y[i] = x[i] minus the mean of its tile of 1024 elements. y, x: float32, [n], n at most 65536, on
/// one CUDA device.
void centre(kernkit::TensorView y, kernkit::TensorView x);

/// y[i] = x[i] / the sum of x. y, x: float32, [n], n at most 128, on one CUDA device.
void share(kernkit::TensorView y, kernkit::TensorView x);
