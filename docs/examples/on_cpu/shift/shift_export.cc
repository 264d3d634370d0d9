// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "shift/shift.h"

KERNKIT_EXPORT(shift, "(Tensor(a!) y, Tensor x) -> ()", "Rotates each block of 64 elements by one.",
               shift)
