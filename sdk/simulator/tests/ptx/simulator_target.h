// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execution_target.h"
#include "kernkit/simulator/runtime.h"

namespace kernkit::simulator::execution_target {

/// Returns the runtime of the current test.
CudaRuntime& runtime();

}  // namespace kernkit::simulator::execution_target
