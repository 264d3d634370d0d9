// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

/// y[i] = x[i - 1] inside each block of 64 elements; the first element of a block of y is the last
/// element of that block of x. float32, one CUDA device, a multiple of 64 elements.
void shift(kernkit::TensorView y, kernkit::TensorView x);
/// The CUDA implementation. Defined in shift.cu.
void shift_cuda(kernkit::TensorView y, kernkit::TensorView x);
