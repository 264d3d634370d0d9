// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "layer_norm/layer_norm.h"

KERNKIT_EXPORT(
    layer_norm,
    "(Tensor(a!) y, Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> ()",
    "y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row.",
    kernkit::kernels::layer_norm)
