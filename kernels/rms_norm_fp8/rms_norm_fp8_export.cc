// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"
#include "rms_norm_fp8/rms_norm_fp8.h"

KERNKIT_EXPORT(rms_norm_fp8,
               "(Tensor(out!) y[n, d]: float8_e4m3fn, Tensor(out!) scale[n]: float32, "
               "Tensor x[n, d], Tensor weight[d], float eps=1e-06) -> ()",
               "y * scale = rms_norm of x, y in float8_e4m3fn, a scale for each row.",
               kernkit::kernels::rms_norm_fp8)
