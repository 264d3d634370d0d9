// SPDX-License-Identifier: Apache-2.0
// Names of kernels, and the argument sizes that a mangled name contains.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// "scale_kernel<float>" of its mangled name: without return type and parameters.
std::string demangle(const std::string& mangled);

/// "table", or "ns::table", of a variable's mangled name; of one in a function the last part.
std::string name_of_variable(const std::string& mangled);

/// Sizes of the kernel's arguments, in bytes, as far as the name says: pointers and numbers; 0 for
/// a structure.
std::vector<size_t> argument_sizes(const std::string& mangled);

}  // namespace kernkit::simulator
