// SPDX-License-Identifier: Apache-2.0
#include "kernkit/shapes/export.h"
#include "scale/scale.h"

// [export]
KERNKIT_EXPORT(scale, "(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()",
               "y = x * factor, elementwise.", kernkit::kernels::scale)
// [/export]
