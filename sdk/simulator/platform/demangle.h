// SPDX-License-Identifier: Apache-2.0
// Names of kernels, and argument sizes from a mangled name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Returns the C++ name of a function without return type and parameters, such as
/// "scale_kernel<float>".
std::string demangle(const std::string& mangled);

/// Returns the C++ name of a variable, such as "table" or "ns::table"; for a variable within a
/// function, only the part that follows the function's name.
std::string name_of_variable(const std::string& mangled);

/// Returns the sizes of a kernel's arguments [bytes], from the types in its mangled name; 0 for a
/// structure, whose size the name does not contain.
std::vector<size_t> argument_sizes(const std::string& mangled);

}  // namespace kernkit::simulator
