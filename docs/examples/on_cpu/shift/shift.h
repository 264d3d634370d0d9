// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/tensor.h"

/// y[i] = x[i - 1] inside each block of 64 elements, whose first one takes the last one's place;
/// float32, one CUDA device, a multiple of 64 elements.
void shift(kernkit::TensorView y, kernkit::TensorView x);
/// The CUDA implementation. Defined in shift.cu.
void shift_cuda(kernkit::TensorView y, kernkit::TensorView x);
