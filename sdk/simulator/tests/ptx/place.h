// SPDX-License-Identifier: Apache-2.0
// Place: where the tests of forms run: by the machine (place_machine.cc), or on a GPU
// (place_device.cc). They are the same objects in both programs.
#pragma once

#include <string>

namespace kernkit::simulator::place {

/// Devices as new, of a compute capability: 90, or 100 for what sm_100a has alone. "" or why
/// nothing can run.
std::string begin(int capability = 90);
void end();
/// The first thing that a kernel did wrong; "none".
std::string fault();
/// Which order blocks and streams have. A GPU has its own.
void set_seed(unsigned seed);
/// The machine gives what PTX ISA leaves open, or within bounds, always the same.
bool is_machine();

}  // namespace kernkit::simulator::place
