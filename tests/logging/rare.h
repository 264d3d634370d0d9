// SPDX-License-Identifier: Apache-2.0
// y[i] is the mean of x[i] and the next element, with a planted rare fault.
#pragma once

#include "kernkit/tensor.h"

void smooth(kernkit::TensorView y, kernkit::TensorView x);
