// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/cuda_on_cpu/runtime.h"
#include "place.h"

namespace kernkit::cuda_on_cpu::place {

/// The test's.
CudaRuntime& runtime();

}  // namespace kernkit::cuda_on_cpu::place
