// SPDX-License-Identifier: Apache-2.0
// Joins PTX modules into one module, as a device linker does for the modules' code.
#pragma once

#include <string>
#include <vector>

namespace kernkit::simulator::driver {

/// Returns one module with the code of all modules. The directives .version, .target and
/// .address_size are those of the first module. A declaration of a function or variable that
/// another module defines is removed.
std::string join_ptx(const std::vector<std::string>& modules);

}  // namespace kernkit::simulator::driver
