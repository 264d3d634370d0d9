// SPDX-License-Identifier: Apache-2.0
// A kernel with static and dynamic shared memory.
#pragma once

#include <cstdint>

#include "kernkit/cuda/launch_config.h"
#include "kernkit/tensor.h"

namespace kernkit::gpu {

inline constexpr int64_t kStaticFloats = 10 * 1024;  // 40 KiB

/// y[i] = x[i]: the first kStaticFloats floats are copied through static shared memory, the
/// following floats through dynamic shared memory of exactly the required size. Launches one block.
void copy_through_shared_memory(TensorView y, TensorView x);

}  // namespace kernkit::gpu
