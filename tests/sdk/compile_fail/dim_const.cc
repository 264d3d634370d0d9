// expect: accepts
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/expect.h"

void f(kernkit::TensorView x) {
  const kernkit::Dim n("n");
  KERNKIT_EXPECT(x).shape(n);
}
