// SPDX-License-Identifier: Apache-2.0
// How undefined bits of an operation's sources reach its results: bit by bit where a coarser rule
// would cause false alarms, otherwise one undefined bit makes the whole result undefined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/machine/kernel.h"
#include "tools/undefined_bits.h"

namespace kernkit::simulator::ptx {

class UndefinedUses;

/// How an integer comparison depends on its operands.
enum class Order : uint8_t { kNone, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct BitPlan {
  Definedness rule = Definedness::kAll;
  uint8_t data = 0;  // for kMoved: a bit for each of src0 to src3
  Order order = Order::kNone;
  bool is_signed = false;
  bool stores = false;
  bool transposes = false;  // a matrix
  bool exchanges = false;   // an atomic that does not use what was there
  std::vector<uint32_t> sources, results;
  std::vector<uint32_t> where;  // registers that select memory or lanes, such as addresses
};

/// One plan for each operation of a kernel.
std::vector<BitPlan> plans_of(const Kernel& kernel);
/// The undefined bits of the results of an operation that touches no memory, before it runs. `uses`
/// records where undefined bits come from.
void follow(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits,
            UndefinedUses* uses);

}  // namespace kernkit::simulator::ptx
