// SPDX-License-Identifier: Apache-2.0
// Where the tests of forms run: in the simulator (simulator_target.cc) or on a GPU
// (device_target.cc). Both programs link the same objects of the tests.
#pragma once

#include <map>
#include <string>

namespace kernkit::simulator::execution_target {

/// Prepares new devices of compute capability 90, or 100 for features that only sm_100a has.
/// Returns "", or the reason why no test can run.
std::string begin(int capability = 90);
void end();
/// Returns the first fault of a kernel, or "none".
std::string fault();
/// Sets the seed for the order of blocks and streams. No effect on a GPU.
void set_seed(unsigned seed);
/// Returns whether the tests run in the simulator. Where PTX ISA allows several results, the
/// simulator always returns the same result.
bool is_simulator();
/// Returns {form: its list of loops}, such as "add.s32" and "integers", for the forms in a PTX text
/// whose loops the simulator has as SIMD code. Requires KERNKIT_PTX_AVX2=0 in the environment.
/// Empty on a GPU.
std::map<std::string, std::string> simd_forms(const std::string& text);

}  // namespace kernkit::simulator::execution_target
