// SPDX-License-Identifier: Apache-2.0
// The products of a kernel, its wgmma.mma_async operations, and the registers of the products.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "ptx/machine/kernel.h"
#include "tools/definedness.h"

namespace kernkit::simulator::ptx {

/// Returns whether an operation issues a product.
bool is_product(const Kernel& kernel, const Operation& operation);

/// Returns the registers of D of a product.
std::vector<uint32_t> sums_of(const Kernel& kernel, const Operation& product);

/// Returns the registers of A of a product. Empty if A is in shared memory.
std::vector<uint32_t> factors_of(const Kernel& kernel, const Operation& product);

/// Returns the registers of A and D of all products of a kernel.
std::unordered_set<uint32_t> registers_of_products(const Kernel& kernel);

/// Adds the registers `to` of each move that has one of the registers `from` in the set, until no
/// move adds a register. `from` and `to` are BitPlan::sources and BitPlan::results, in either
/// order.
void add_along_moves(const std::vector<BitPlan>& plans, std::vector<uint32_t> BitPlan::*from,
                     std::vector<uint32_t> BitPlan::*to, std::unordered_set<uint32_t>* registers);

}  // namespace kernkit::simulator::ptx
