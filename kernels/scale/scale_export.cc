// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "scale/scale.h"

// [export]
KERNKIT_EXPORT(scale, "(Tensor(a!) y, Tensor x, float factor) -> ()",
               "y = x * factor, elementwise.", kernkit::kernels::scale)
// [/export]
