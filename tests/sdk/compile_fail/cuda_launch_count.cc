// expect: for call to
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"

void kernel(float* out, int n);
void f(const kernkit::cuda::Launch& launch, float* out) { launch(kernel, {1, 1}, out); }
