// expect: success
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/expect.h"

// Like GoogleTest's EXPECT_THROW, OUTER passes its argument through a second macro.
#define INNER(statement, type) statement
#define OUTER(statement, type) INNER(statement, type)

void f(kernkit::TensorView x, int n) {
  OUTER(KERNKIT_EXPECT(x).rank(n), int);
  OUTER(KERNKIT_CHECK(n > 0, ValueError) << "n: " << n, int);
  OUTER(KERNKIT_ICHECK(n > 0), int);
  OUTER(KERNKIT_ICHECK_EQ(n, 1), int);
  OUTER(KERNKIT_THROW(ValueError), int);
}
