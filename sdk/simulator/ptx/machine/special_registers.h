// SPDX-License-Identifier: Apache-2.0
// Special registers: PTX ISA, "Special Registers".
#pragma once

#include <string>

#include "ptx/machine/kernel.h"
#include "ptx/machine/warp.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// kNone for another name or an unsupported register.
Type type_of_special(const std::string& name);
/// Its number; -1 likewise.
int special_named(const std::string& name);
/// Whether it differs between blocks.
bool is_of_block(const SpecialRegister& special);
/// Sets it in all lanes of a warp.
void set_special(Warp& warp, const SpecialRegister& special);

}  // namespace kernkit::simulator::ptx
