// SPDX-License-Identifier: Apache-2.0
#include "cumsum/cumsum.h"
#include "kernkit/export.h"

KERNKIT_EXPORT(cumsum, "(Tensor(a!) y, Tensor x) -> ()", "y[i] = x[0] + ... + x[i].", cumsum)
