// SPDX-License-Identifier: Apache-2.0
// Names of kernels, and argument sizes from a mangled name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Returns the name without return type and parameters: "scale_kernel<float>".
std::string demangle(const std::string& mangled);

/// Returns "table" or "ns::table" for a variable's mangled name; for a variable in a function, its
/// last part.
std::string name_of_variable(const std::string& mangled);

/// Returns the sizes of the kernel's arguments by the types in its name [bytes]; 0 for a structure,
/// whose size is unknown.
std::vector<size_t> argument_sizes(const std::string& mangled);

}  // namespace kernkit::simulator
