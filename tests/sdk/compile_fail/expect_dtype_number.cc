// expect: function for call to
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/expect.h"

void f(kernkit::TensorView x) { KERNKIT_EXPECT(x).dtype(2); }
