// SPDX-License-Identifier: Apache-2.0
#include "add/add.h"
#include "kernkit/shapes/export.h"

KERNKIT_EXPORT(add, "(Tensor(out!) z[each...], Tensor x[each...], Tensor y[each...]) -> ()",
               "z = x + y, elementwise.", kernkit::kernels::add)
