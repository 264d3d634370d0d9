// SPDX-License-Identifier: Apache-2.0
// How undefined bits of an operation's sources reach its results. Where bits decide about false
// alarms the rules go bit by bit; for the rest one undefined bit makes all of a result undefined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/machine/kernel.h"
#include "tools/undefined_bits.h"

namespace kernkit::simulator::ptx {

class UndefinedUses;

/// Of a comparison of integers.
enum class Order : uint8_t { kNone, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct BitPlan {
  Definedness rule = Definedness::kAll;
  uint8_t data = 0;  // of kMoved: which of a, b, c, e
  Order order = Order::kNone;
  bool is_signed = false;
  bool stores = false;
  bool transposes = false;  // a matrix
  bool exchanges = false;   // an atomic that does not use what was there
  std::vector<uint32_t> sources, results;
  std::vector<uint32_t> where;  // registers that say where, such as addresses
};

/// Of the operations of a kernel.
std::vector<BitPlan> plans_of(const Kernel& kernel);
/// The undefined bits of the results of an operation that touches no memory, before it runs. `uses`
/// records where undefined bits come from.
void follow(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits,
            UndefinedUses* uses);

}  // namespace kernkit::simulator::ptx
