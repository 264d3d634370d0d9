// expect: 'kernkit::float16' and 'kernkit::float16'
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/float.h"

kernkit::float16 sum(kernkit::float16 a, kernkit::float16 b) { return a + b; }
