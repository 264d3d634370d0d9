// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "rare.h"

KERNKIT_EXPORT(smooth, "(Tensor(out!) y, Tensor x) -> ()",
               "y[i] = (x[i] + x[i + 1]) / 2, where x ends with its last element twice.", smooth)
