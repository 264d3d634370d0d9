// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "negate/negate.h"

KERNKIT_EXPORT(negate, "(Tensor(a!) y, Tensor x) -> ()", "y = -x.", consumer::negate)
