// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "softmax/softmax.h"

KERNKIT_EXPORT(softmax, "(Tensor(a!) y, Tensor x) -> ()", "y = exp(x) / sum(exp(x)), row by row.",
               kernkit::kernels::softmax)
