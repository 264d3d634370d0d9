// SPDX-License-Identifier: Apache-2.0
// Ops with planted faults.
#pragma once

#include "kernkit/tensor.h"

/// y[i] = x[i + 1], with a planted fault for the last i.
void shift(kernkit::TensorView y, kernkit::TensorView x);
/// y = x, with the planted fault y += x.
void total(kernkit::TensorView y, kernkit::TensorView x);
