// SPDX-License-Identifier: Apache-2.0
// The registers of PTX ISA, "Special Registers".
#pragma once

#include <string>

#include "ptx/machine/kernel.h"
#include "ptx/machine/warp.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// Returns the type of a special register; kNone for another name or an unsupported register.
Type type_of_special(const std::string& name);
/// Returns the number of a special register; -1 for another name or an unsupported register.
int special_named(const std::string& name);
/// Returns whether mov and cvt of 16 bits may read the lower half of the register.
bool has_narrow_form(const std::string& name);
/// Returns whether the register's value differs between blocks.
bool is_of_block(const SpecialRegister& special);
/// Sets the register in all lanes of a warp.
void set_special(Warp& warp, const SpecialRegister& special);

}  // namespace kernkit::simulator::ptx
