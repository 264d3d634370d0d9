// expect: more than 32 names, 128 sizes or 256 parts of expressions
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"

void op_function(kernkit::TensorView);
KERNKIT_EXPORT(
    op,
    "(Tensor x[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, a1, a2, a3, "
    "a4, a5, a6, a7, a8, a9, a10]) -> ()",
    "", op_function)
