// SPDX-License-Identifier: Apache-2.0
// The linker of device code: joins PTX modules into one module.
#pragma once

#include <string>
#include <vector>

namespace kernkit::simulator::ptx {

/// Returns one module with the code of all modules. The directives .version, .target and
/// .address_size come from the first module. A name with a linkage directive denotes the same
/// function or variable in all modules: a definition replaces declarations, and a definition that
/// is not .weak replaces .weak definitions. A name without a linkage directive belongs to its
/// module. A name that no module defines stays a declaration. A module that defines functions of
/// the device runtime is left out, because the simulator has these functions. Throws UnsupportedPtx
/// for text that is not PTX, and for a name with two definitions that are neither .weak nor
/// .common.
std::string link_ptx(const std::vector<std::string>& modules);

}  // namespace kernkit::simulator::ptx
