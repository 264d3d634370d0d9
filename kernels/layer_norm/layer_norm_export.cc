// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"
#include "layer_norm/layer_norm.h"

KERNKIT_EXPORT(layer_norm,
               "(Tensor(out!) y[n, d], Tensor x[n, d], Tensor? weight[d]=None, "
               "Tensor? bias[d]=None, float eps=1e-05) -> ()",
               "y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row.",
               kernkit::kernels::layer_norm)
