// SPDX-License-Identifier: Apache-2.0
#include "kernkit/export.h"
#include "total/total.h"

// [export]
KERNKIT_EXPORT(total, "(Tensor(a!) y, Tensor x, Tensor(b!)? scratch=None) -> ()",
               "y = the sum of x, in the same order in every run.", total)
KERNKIT_EXPORT(total_scratch, "(Tensor x) -> int",
               "Returns the size of scratch for total of x [bytes].", total_scratch)
// [/export]
