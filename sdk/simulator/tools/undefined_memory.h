// SPDX-License-Identifier: Apache-2.0
// UndefinedMemory: the undefined bits of shared and local memory of a block. Global memory is
// tracked by whole bytes, since a store of undefined bits to global memory is reported.
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
  /// Called before an operation that commits or waits for cp.async copies, and before a return from
  /// a function.
  void change(const BitPlan& plan, Warp& warp, const Operation& operation);
  /// Records a bulk copy of `bytes` bytes to offset `at` of shared memory, from the address `from`
  /// of global memory; if `from` is 0, the copied bytes are initialised.
  void copy_into_shared(uint32_t at, uint32_t bytes, uint64_t from);
  /// Records a bulk copy, which a lane issued, of `bytes` bytes of shared memory into global memory
  /// at `at`. Uninitialised bytes of shared memory are reported; for a reduction, uninitialised
  /// bytes of global memory are also reported.
  void copy_into_global(const Warp& warp, int lane, const Operation& operation, uint64_t at,
                        uint32_t bytes, uint32_t from);

 private:
  static constexpr uint32_t kMostBytes = 32;  // largest access of a lane [bytes]
  // Undefined bits of each byte, and an origin for every 4 bytes.
  struct Bits {
    std::vector<uint8_t> bits;
    std::vector<uint32_t> origins;
    bool changed = true;
    void start();
  };
  /// The undefined bits of a lane's access, and the number of their origin; 0 if there is no origin
  /// yet.
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
             uint32_t bytes, const Lane& from, const char* message);

  void load(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  void store(Warp& warp, const Operation& operation, UndefinedBits* bits);
  void update(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  void copy(Warp& warp, const Operation& operation);
  void matrix(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);
  void warpgroup(Warp& warp, const Operation& operation, UndefinedBits* bits);
  void fragment(const BitPlan& plan, Warp& warp, const Operation& operation, UndefinedBits* bits);

  // The undefined bits of a warp's pending cp.async copies.
  struct Pending {
    AsyncCopies bits, origins;
  };

  Block& block_;
  UndefinedUses& uses_;
  Bits shared_;
  std::vector<Bits> local_;  // bits of each warp's local memory
  bool has_frames_;  // whether functions have frames in local memory, which then counts as written
  std::vector<WrittenPiece> pieces_;  // for each operation, the piece that it accessed last
  std::vector<Pending> pending_;      // pending copies of each warp
};

}  // namespace kernkit::simulator::ptx
