// SPDX-License-Identifier: Apache-2.0
#include "fused_add_rms_norm/fused_add_rms_norm.h"
#include "kernkit/shapes/export.h"

KERNKIT_EXPORT(fused_add_rms_norm,
               "(Tensor(out!) y[n, d], Tensor(out!) sum[n, d], Tensor x[n, d], "
               "Tensor residual[n, d], Tensor? weight[d]=None, float eps=1e-06) -> ()",
               "sum = x + residual and y = rms_norm(sum, weight, eps), row by row.",
               kernkit::kernels::fused_add_rms_norm)
