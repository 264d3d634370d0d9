// SPDX-License-Identifier: Apache-2.0
// UndefinedMemory: the undefined bits of shared and local memory of a block. Bytes of global memory
// are initialised or not, since a store of undefined bits there is reported.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/machine/block.h"
#include "tools/accesses.h"
#include "tools/definedness.h"
#include "tools/shadow_memory.h"
#include "tools/undefined_uses.h"

namespace kernkit::simulator::ptx {

class UndefinedMemory {
 public:
  UndefinedMemory(Block& block, UndefinedUses* uses);

  void start();
  /// Called before an operation that loads or stores.
  void access(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  /// Called before an operation that changes memory in another way.
  void change(const BitPlan& plan, Warp& warp, const Operation& operation);

 private:
  static constexpr uint32_t kMostBytes = 32;  // of a lane
  // Origins are of 4 bytes each.
  struct Bits {
    std::vector<uint8_t> bits;
    std::vector<uint32_t> origins;
    bool changed = true;
    void start();
  };
  /// Bytes that a lane touches, and an origin of these; 0: none yet.
  struct Lane {
    uint8_t bits[kMostBytes];
    uint32_t origin;
  };
  Bits* bits_of(Space space, const Warp& warp, int lane, uint64_t at, uint32_t bytes,
                uint64_t* index);
  const WrittenPiece& piece(const Operation& operation, uint64_t address, uint32_t bytes);
  bool read(const Warp& warp, const Operation& operation, Space space, int lane, uint64_t at,
            uint32_t bytes, Lane* to);
  void write(const Warp& warp, const Operation& operation, Space space, int lane, uint64_t at,
             uint32_t bytes, const Lane& from, const char* what);

  void load(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  void store(Warp& warp, const Operation& operation, UndefinedBits* bits);
  void update(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  void copy(Warp& warp, const Operation& operation);
  void matrix(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  void fragment(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);

  // What cp.async of a warp has not yet put there.
  struct Pending {
    AsyncCopies bits, origins;
  };

  Block& block_;
  UndefinedUses& uses_;
  Bits shared_;
  std::vector<Bits> local_;           // of the warps
  bool has_frames_;                   // calls move local memory, which then counts as written
  std::vector<WrittenPiece> pieces_;  // of the operations: where each was last
  std::vector<Pending> pending_;      // of the warps
};

}  // namespace kernkit::simulator::ptx
