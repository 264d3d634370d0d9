// SPDX-License-Identifier: Apache-2.0
// Derived addresses: accesses whose address is computed from the address of one variable, such as
// `table[i]`. Such an access must be within the variable, even if other memory is at the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

/// For each operation whose address is derived from the address of a variable, sets `variable` and,
/// if the variable is in shared memory, `shared_begin` and `shared_end`. `registers` is the number
/// of registers of the kernel. Requires that Registers::assign_slots() was not called yet.
void find_variables(size_t registers, Kernel* kernel);

}  // namespace kernkit::simulator::ptx
