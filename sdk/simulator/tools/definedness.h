// SPDX-License-Identifier: Apache-2.0
// How undefined bits of an operation's sources reach its results. Where bits decide about false
// alarms the rules go bit by bit; for the rest one undefined bit makes all of a result undefined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/decode/kernel.h"
#include "tools/undefined_bits.h"

namespace kernkit::simulator::ptx {

class UndefinedUses;

enum class BitRule : uint8_t {
  kAll,      // any source bit: all of each result
  kHalves,   // likewise, of each half of 16 bits
  kUpwards,  // from the lowest one on: of sums and products
  kEach,     // bit by bit: of xor, not, mov
  kAnd,      // bit by bit, as the other source's zeros allow
  kOr,       // as its ones allow
  kTable,    // lop3
  kMoved,    // as the operation moves the bits of its data
  kSelect,   // of the source that the predicate takes
  kCompare,  // where no value that the bits may have changes the result
  kNarrows,  // two sources: the halves of the result
  kWidens,   // halves of the source: those of the result
  kShuffle,  // lanes' bits
  kBallot,   // a predicate's lanes: bits
  kVote,     // where no lane decides that is defined
  kWarp,     // any lane's bit: all
  kProduct,  // of rows and columns
  kNone,     // the results are defined
  // Accesses.
  kLoad,
  kStore,
  kAtomic,
  kMatrix,    // ldmatrix, stmatrix
  kFragment,  // wmma.load, wmma.store
  kCopy,      // cp.async
  // Others that change memory.
  kCommit,
  kWait,
  kWaitAll,
  kReturn,  // a function of the device, by local memory
};

/// Of a comparison of integers.
enum class Order : uint8_t { kNone, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct BitPlan {
  BitRule rule = BitRule::kAll;
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
