// SPDX-License-Identifier: Apache-2.0
// Propagation of undefined bits from an operation's sources to its results: bit by bit where a
// coarser rule would cause false alarms; otherwise one undefined bit makes the whole result
// undefined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/machine/kernel.h"
#include "tools/undefined_bits.h"

namespace kernkit::simulator::ptx {

class UndefinedUses;

/// The relation that an integer comparison tests.
enum class Order : uint8_t { kNone, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct BitPlan {
  Definedness rule = Definedness::kAll;
  uint8_t data = 0;  // for kMoved: mask of the sources that are data; bit i is src<i>
  Order order = Order::kNone;
  bool is_signed = false;
  bool stores = false;
  bool transposes = false;  // whether a matrix operation transposes the matrices
  // whether the value that an atomic stores is independent of the old value
  bool exchanges = false;
  std::vector<uint32_t> sources, results;
  std::vector<uint32_t> upper_sources, upper_results;  // for atomics of 16 bytes: upper halves
  std::vector<uint32_t> selectors;  // registers that select memory or lanes, such as addresses

  /// Returns whether the instruction only moves bits between registers: mov, selp, shifts.
  bool is_move() const { return rule == Definedness::kMoved || rule == Definedness::kSelect; }
};

/// Returns a plan for each operation of a kernel.
std::vector<BitPlan> plans_of(const Kernel& kernel);
/// Computes the undefined bits of the results of an operation that accesses no memory, before the
/// operation runs. `uses` records the origins of undefined bits.
void follow(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits,
            UndefinedUses* uses);

}  // namespace kernkit::simulator::ptx
