// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "silu_and_mul/silu_and_mul.h"

KERNKIT_EXPORT(silu_and_mul, "(Tensor(a!) y, Tensor x) -> ()",
               "y[i, j] = silu(x[i, j]) * x[i, d + j] for x [n, 2 * d] and y [n, d].",
               template_library::silu_and_mul)
