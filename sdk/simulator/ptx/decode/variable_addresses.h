// SPDX-License-Identifier: Apache-2.0
// Derived addresses: accesses whose address is computed from the address of one variable, such as
// `table[i]`. Such an access must be within the variable, even if other memory is at the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

/// Sets `variable`, `shared_begin` and `shared_end` of the operations that access derived
/// addresses. `registers` is the number of registers. Call this function before
/// Registers::assign_slots().
void find_variables(size_t registers, Kernel* kernel);

}  // namespace kernkit::simulator::ptx
