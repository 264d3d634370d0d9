// SPDX-License-Identifier: Apache-2.0
// y[i] = x[i + 1], with a planted fault.
#pragma once

#include "kernkit/tensor.h"

void shift(kernkit::TensorView y, kernkit::TensorView x);
