// SPDX-License-Identifier: Apache-2.0
// Fat binaries, which nvcc's code registers when it is loaded.
#pragma once

#include "runtime/state.h"

namespace kernkit::simulator {

/// Returns the compute capabilities for which a fat binary has code. `wrapper`: the argument of
/// __cudaRegisterFatBinary().
ModuleInfo read_fat_binary(const void* wrapper);

}  // namespace kernkit::simulator
