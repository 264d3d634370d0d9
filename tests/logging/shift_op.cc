// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "shift.h"

KERNKIT_EXPORT(shift, "(Tensor(out!) y, Tensor x) -> ()", "y[i] = x[i + 1].", shift)
