// SPDX-License-Identifier: Apache-2.0
// Operation: a decoded instruction. Its registers are offsets into the registers of a warp.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ptx/isa/instruction.h"

namespace kernkit::simulator::ptx {

/// What it does to the order of operations.
enum class Flow : uint8_t {
  kNext,
  kBranch,
  kTable,  // a branch to an entry of a table
  kCall,
  kReturn,
  kExit,
  kWarpSync,  // for lanes that come together: those of a mask
  kBarrier,   // of the block
  kYield,     // a good moment to let others run
};

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kParam };

inline constexpr uint32_t kNone = UINT32_MAX;
/// The mode of barrier.cluster.wait.
inline constexpr uint8_t kModeOfCluster = 5;
/// The mode of a meeting at which lanes only wait for each other, wherever they are.
inline constexpr uint8_t kOnlySynchronises = 255;

struct Operation {
  Run run = nullptr;
  Flow flow = Flow::kNext;
  bool guard_negated = false;
  bool negated = false;      // a predicate among its sources
  uint8_t mode = 0;          // defined by each instruction
  uint8_t count = 0;         // of `list`
  uint8_t address_size = 0;  // bytes of `address`; 0: no register, the offset is all
  Space space = Space::kGeneric;
  uint8_t bytes = 0;  // that an access moves, together
  uint32_t guard = kNone;
  uint32_t dst = kNone, dst_predicate = kNone;
  uint32_t src0 = kNone, src1 = kNone, src2 = kNone, src3 = kNone;
  uint32_t members = kNone;  // of a meeting: the mask
  uint32_t address = kNone;
  uint32_t list[8] = {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  uint32_t target = 0;    // of a branch: the number of an operation; or of a table, or a call
  uint32_t number = 0;    // of this one
  uint32_t more = kNone;  // of registers: a list of the kernel's
  int64_t offset = 0;     // of an address
  // An access whose address is derived from that of a variable has the variable's number in
  // Kernel::variables, and in shared memory the variable's begin and end [bytes].
  uint32_t variable = kNone, shared_begin = 0, shared_end = UINT32_MAX;

  template <class Visit>
  void each_register(const Visit& visit) {
    for (uint32_t* one :
         {&guard, &dst, &dst_predicate, &src0, &src1, &src2, &src3, &members, &address})
      visit(one);
    for (uint32_t& one : list) visit(&one);
  }
};

}  // namespace kernkit::simulator::ptx
