// SPDX-License-Identifier: Apache-2.0
// Derived addresses: accesses whose address is computed from the address of one variable, such as
// `table[i]`. Such an access must be within the variable, even if other memory is at the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

/// Sets the variable of accesses, and the variable's bounds in shared memory. Called while
/// registers still have numbers.
void find_variables(size_t registers, Kernel* kernel);

}  // namespace kernkit::simulator::ptx
