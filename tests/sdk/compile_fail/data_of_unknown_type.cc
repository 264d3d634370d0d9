// expect: specialise kernkit::DTypeOf for it
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/tensor.h"

struct Own {};
void f(kernkit::TensorView x) { (void)x.data<Own>(); }
