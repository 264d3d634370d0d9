// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "kernkit/export.h"
#include "kernkit/optional.h"
#include "shift.h"

static void pass(kernkit::TensorView, double, int64_t, bool, std::string_view, DLDataType, DLDevice,
                 kernkit::Optional<double>) {}

KERNKIT_EXPORT(shift, "(Tensor(out!) y, Tensor x) -> ()", "y[i] = x[i + 1].", shift)
KERNKIT_EXPORT(total, "(Tensor(out!) y, Tensor x) -> ()", "y = x.", total)
KERNKIT_EXPORT(pass,
               "(Tensor x, float f, int i, bool b, str s, ScalarType dtype, Device device, "
               "float? maybe) -> ()",
               "Does nothing.", pass)
