// expect: success
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"

void kernel(float* out, const float* in, int64_t n);
void f(const kernkit::cuda::Launch& launch, float* out, float* in) {
  launch(kernel, {1, 1}, out, in, 1);
}
