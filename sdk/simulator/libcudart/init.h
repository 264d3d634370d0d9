// SPDX-License-Identifier: Apache-2.0
// Initialisation of the simulator as libcudart.so.13.
#pragma once

namespace kernkit::simulator {

/// Creates the devices, once. Called when this library is loaded, and before the constructors of a
/// library whose static runtime is redirected, which may run earlier.
void start_runtime();

}  // namespace kernkit::simulator
