// SPDX-License-Identifier: Apache-2.0
// Place: where the tests of forms run, in the simulator (place_machine.cc) or on a GPU
// (place_device.cc). Both programs link the same objects of the tests.
#pragma once

#include <string>

namespace kernkit::simulator::place {

/// Prepares new devices of compute capability 90, or 100 for features that only sm_100a has.
/// Returns "", or the reason why no test can run.
std::string begin(int capability = 90);
void end();
/// The first fault of a kernel, or "none".
std::string fault();
/// Sets the order of blocks and streams. No effect on a GPU.
void set_seed(unsigned seed);
/// Whether the tests run in the simulator. Where PTX ISA allows several results, the simulator
/// always returns the same result.
bool is_machine();

}  // namespace kernkit::simulator::place
