// SPDX-License-Identifier: Apache-2.0
// Derived addresses: which accesses have an address that is computed from that of one variable, as
// `table[i]` has. Such an access must be one to that variable, whatever memory is at the address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/decode/kernel.h"

namespace kernkit::simulator::ptx {

/// From which of its sources an operation's result `to` is an address, with a distance added.
/// kFromDifference: from `a`, unless `b` is an address too.
enum class Derived : uint8_t { kFromNone, kFromA, kFromDifference, kFromC, kFromEither, kFromBoth };

/// By the first word of an instruction.
Derived derived_by(std::string_view name);
/// Sets the variable of accesses, and its bounds in shared memory. Registers have their numbers
/// still; `derived` is one for each operation.
void find_variables(const std::vector<Derived>& derived, size_t registers, Kernel* kernel);

}  // namespace kernkit::simulator::ptx
