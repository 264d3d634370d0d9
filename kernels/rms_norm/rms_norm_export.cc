// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"
#include "rms_norm/rms_norm.h"

KERNKIT_EXPORT(
    rms_norm,
    "(Tensor(out!) y[n, d], Tensor x[n, d], Tensor? weight[d]=None, float eps=1e-06) -> ()",
    "y = x / sqrt(mean(x^2) + eps) * weight, row by row.", kernkit::kernels::rms_norm)
