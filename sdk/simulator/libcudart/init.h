// SPDX-License-Identifier: Apache-2.0
// Initialisation of the simulator as libcudart.so.13.
#pragma once

namespace kernkit::simulator {

/// Creates the devices at the first call; later calls do nothing. Called when this library is
/// loaded, or earlier, before the constructors of a library whose static runtime is redirected.
void start_runtime();

}  // namespace kernkit::simulator
