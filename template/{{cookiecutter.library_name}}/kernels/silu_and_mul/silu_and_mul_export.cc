// SPDX-License-Identifier: Apache-2.0
//@ if frameworks
#include "kernkit/shapes/export.h"
//@ else
//: #include "kernkit/export.h"
//@ end
#include "silu_and_mul/silu_and_mul.h"

//@ if frameworks
KERNKIT_EXPORT(silu_and_mul, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()",
               "y[i, j] = silu(x[i, j]) * x[i, d + j] for x [n, 2 * d] and y [n, d].",
               template_library::silu_and_mul)
//@ else
//: KERNKIT_EXPORT(silu_and_mul, "(Tensor(a!) y, Tensor x) -> ()",
//:                "y[i, j] = silu(x[i, j]) * x[i, d + j] for x [n, 2 * d] and y [n, d].",
//:                template_library::silu_and_mul)
//@ end
