// SPDX-License-Identifier: Apache-2.0
// Accesses of .b128 registers. A .b128 register is two registers of 64 bits with adjacent numbers,
// the lower half first.
#pragma once

#include "ptx/machine/operation.h"

namespace kernkit::simulator::ptx {

/// Executes ld and st of 16 bytes with .relaxed, .acquire, .release or .volatile. The halves of the
/// register are list[0] and list[1].
void load_whole(Warp& warp, const Operation& operation);
void store_whole(Warp& warp, const Operation& operation);
/// Executes atom.exch.b128 and atom.cas.b128.
void exchange_whole(Warp& warp, const Operation& operation);
void compare_and_swap_whole(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
