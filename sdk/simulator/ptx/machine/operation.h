// SPDX-License-Identifier: Apache-2.0
// Operation: a decoded instruction. Register operands are byte offsets into a warp's registers.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ptx/isa/instruction.h"

namespace kernkit::simulator::ptx {

/// The effect of an operation on control flow.
enum class Flow : uint8_t {
  kNext,
  kBranch,
  kTable,  // branch to an entry of a table
  kCall,
  kReturn,
  kExit,
  kWarpSync,     // waits for the lanes of a mask
  kBarrier,      // barrier of a block
  kClusterWait,  // waits for the threads of a cluster
  kTryWait,      // waits for a phase of an mbarrier; the predicate dst_predicate is the result
  kYield,        // lets other warps and blocks run
};

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kParam };

inline constexpr uint32_t kNone = UINT32_MAX;
/// The mode of a kWarpSync operation that only synchronises lanes. With this mode, the lanes can
/// wait at different operations.
inline constexpr uint8_t kOnlySynchronises = 255;
/// The mode of a kWarpSync operation, wgmma.wait_group, that also waits until the other warps of
/// the warpgroup have committed the groups of products that the warp waits for.
inline constexpr uint8_t kWaitsForProducts = 254;

/// The elements of Operation::list for the upper halves of the 128-bit registers of an atomic. The
/// lower halves are dst, src1 and src2.
enum UpperHalf : uint8_t { kUpperResult, kUpperSource1, kUpperSource2 };

struct Operation {
  Run run = nullptr;
  Flow flow = Flow::kNext;
  bool guard_negated = false;
  bool negated = false;      // whether the predicate source is negated
  uint8_t mode = 0;          // variant of the instruction, see ptx/semantics/
  uint8_t count = 0;         // number of registers in `list`
  uint8_t address_size = 0;  // size of `address` [bytes]; 0 if the address is the offset alone
  Space space = Space::kGeneric;
  uint8_t bytes = 0;  // size of a lane's access [bytes]
  uint32_t guard = kNone;
  uint32_t dst = kNone, dst_predicate = kNone;
  uint32_t src0 = kNone, src1 = kNone, src2 = kNone, src3 = kNone;
  uint32_t members = kNone;  // register with the mask of a kWarpSync operation
  uint32_t address = kNone;
  uint32_t list[8] = {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  uint32_t target = 0;    // target of a branch, or index of a table or call site
  uint32_t number = 0;    // index of this operation in Kernel::code
  uint32_t more = kNone;  // index into Kernel::lists, for more registers
  int64_t offset = 0;     // constant offset of the address [bytes]
  // For an access whose address is derived from the address of a variable: the variable's index
  // into Kernel::variables, and the begin and end of a shared variable [bytes].
  uint32_t variable = kNone, shared_begin = 0, shared_end = UINT32_MAX;

  template <class Visit>
  void each_register(const Visit& visit) {
    for (uint32_t* item :
         {&guard, &dst, &dst_predicate, &src0, &src1, &src2, &src3, &members, &address})
      visit(item);
    for (uint32_t& item : list) visit(&item);
  }
};

}  // namespace kernkit::simulator::ptx
