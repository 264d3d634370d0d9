// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "rms_norm/rms_norm.h"

KERNKIT_EXPORT(rms_norm, "(Tensor(a!) y, Tensor x, Tensor? weight=None, float eps=1e-06) -> ()",
               "y = x / sqrt(mean(x^2) + eps) * weight, row by row.", kernkit::kernels::rms_norm)
