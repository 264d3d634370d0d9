// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "sum_of_seven.h"

KERNKIT_EXPORT(sum_of_seven,
               "(Tensor(a!) y, Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, "
               "Tensor g) -> ()",
               "y = a + b + c + d + e + f + g, elementwise.", kernkit::bench::sum_of_seven)
