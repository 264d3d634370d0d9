// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernkit/simulator/runtime.h"
#include "place.h"

namespace kernkit::simulator::place {

/// The runtime of the current test.
CudaRuntime& runtime();

}  // namespace kernkit::simulator::place
