// SPDX-License-Identifier: Apache-2.0
#include "gelu_and_mul/gelu_and_mul.h"
#include "kernkit/shapes/export.h"

KERNKIT_EXPORT(gelu_and_mul, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()",
               "y[i, j] = gelu(x[i, j]) * x[i, d + j] for x [n, 2 * d] and y [n, d].",
               kernkit::kernels::gelu_and_mul)
