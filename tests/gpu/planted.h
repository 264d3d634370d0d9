// SPDX-License-Identifier: Apache-2.0
// y = x for n floats, with more memory traffic than necessary.
#pragma once

#include <cstdint>

namespace kernkit::gpu {

void copy_by_scalar_loads(int64_t n, float* y, const float* x);
void copy_by_columns(int64_t n, float* y, const float* x);

}  // namespace kernkit::gpu
