// SPDX-License-Identifier: Apache-2.0
// Derived addresses: which accesses have an address that is computed from that of one variable, as
// `table[i]` has. Such an access must be one to that variable, whatever memory is at the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

/// Sets the variable of accesses, and its bounds in shared memory. Registers still have their
/// numbers.
void find_variables(size_t registers, Kernel* kernel);

}  // namespace kernkit::simulator::ptx
