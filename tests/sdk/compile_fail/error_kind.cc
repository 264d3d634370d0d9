// expect: ValueErorr
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/error.h"

void f(int n) { KERNKIT_CHECK(n > 0, ValueErorr) << "n: must be positive"; }
