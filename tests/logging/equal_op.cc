// SPDX-License-Identifier: Apache-2.0
#include "equal.h"
#include "kernkit/export.h"

KERNKIT_EXPORT(centre, "(Tensor(out!) y, Tensor x) -> ()",
               "y[i] = x[i] minus the mean of its tile of 1024 elements.", centre)
KERNKIT_EXPORT(share, "(Tensor(out!) y, Tensor x) -> ()", "y = x divided by its sum.", share)
