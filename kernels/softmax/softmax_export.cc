// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"
#include "softmax/softmax.h"

KERNKIT_EXPORT(softmax, "(Tensor(out!) y[n, d], Tensor x[n, d]) -> ()",
               "y = exp(x) / sum(exp(x)), row by row.", kernkit::kernels::softmax)
