// expect: 'const float*'
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/tensor.h"

void write(float* out);
void f(kernkit::TensorView x) { write(x.data<const float>()); }
