// SPDX-License-Identifier: Apache-2.0
// Warp: 32 lanes that run an operation together as far as they are at the same place. Those that
// are not are parts of it: the part that is furthest behind runs first, so that it can catch up.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "platform/inline.h"
#include "ptx/machine/async_copies.h"
#include "ptx/machine/operation.h"
#include "ptx/machine/range.h"
#include "ptx/machine/simd_target.h"

namespace kernkit::simulator::ptx {

struct Block;

inline constexpr unsigned kMostWarps = 32;  // of a block

/// The bit of each lane in a mask.
alignas(64) inline constexpr uint32_t kLane[32] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

inline namespace KERNKIT_PTX_TARGET {

/// Puts results of the lanes of a mask where they belong.
template <class X>
__attribute__((noinline)) void keep_some(X* all, const X* some, uint32_t mask) {
  for (int l = 0; l < 32; ++l) all[l] = (mask & kLane[l]) != 0 ? some[l] : all[l];
}

}  // namespace KERNKIT_PTX_TARGET

struct Part {
  enum State : uint8_t { kReady, kMeets, kWaits } state;
  uint32_t pc;
  uint32_t mask;
  uint32_t barrier;  // of kWaits
};

/// What a lane goes back to when a function ends.
struct Caller {
  uint32_t pc;
  uint32_t call, function;               // numbers of the kernel's
  std::vector<unsigned char> registers;  // of the lane
};

struct alignas(64) Warp {
  enum class Stop { kEnded, kWaits, kYields };
  static constexpr uint32_t kAll = UINT32_MAX;

  // State that operations use.
  alignas(64) unsigned char scratch[256];
  uint32_t mask = 0;  // the lanes that run the operation
  unsigned char* registers = nullptr;
  Block* block = nullptr;
  Window local, shared, parameters;
  Range* ranges = nullptr;  // of each operation: where its last access was
  unsigned number = 0;      // in the block
  AsyncCopies copies;

  // What is done next.
  uint32_t live = 0;
  uint32_t pc = 0;
  uint32_t active = 0;              // of the part that runs; 0: none
  uint32_t next_part = kNone;       // where it meets another part
  bool own_turn = false;            // runs even if other splits are behind in the code
  std::vector<Part> parts;          // the others
  std::vector<Caller> callers[32];  // of each lane, the innermost last

  // Inlined, so that each way to compile loops has its own.
  template <class T>
  KERNKIT_SIMULATOR_INLINE T* lanes(uint32_t at) {
    return static_cast<T*>(__builtin_assume_aligned(registers + at, 64));
  }
  KERNKIT_SIMULATOR_INLINE uint32_t& predicate(uint32_t at) const {
    return *reinterpret_cast<uint32_t*>(registers + at);
  }
  KERNKIT_SIMULATOR_INLINE void set_predicate(uint32_t at, uint32_t bits) {
    uint32_t& all = predicate(at);
    all = (all & ~mask) | (bits & mask);
  }
  /// Where to put results: keep() then puts those of lanes that run where they belong.
  template <class T>
  KERNKIT_SIMULATOR_INLINE T* results(uint32_t at) {
    if (mask == kAll) return lanes<T>(at);
    return static_cast<T*>(__builtin_assume_aligned(&scratch[0], 64));
  }
  template <class T>
  KERNKIT_SIMULATOR_INLINE void keep(uint32_t at) {
    using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    if (mask == kAll) return;
    keep_some(lanes<Bits>(at), static_cast<const Bits*>(static_cast<void*>(scratch)), mask);
  }

  /// Starts at the first operation.
  void start(uint32_t threads);
  /// Runs until all lanes ended, or wait for others, or it is time for others to run.
  Stop run();
  bool is_ready() const;

 private:
  friend struct Block;
  uint32_t lanes_of(const Operation& operation) const;
  void run_straight(const Operation* code);
  bool pick();
  void suspend(Part::State state, uint32_t mask, uint32_t at, uint32_t barrier = 0);
  void go_to(uint32_t target);
  void branch(const Operation& operation, uint32_t taken);
  void branch_by_table(const Operation& operation, uint32_t taken);
  void call(const Operation& operation, uint32_t lanes);
  void call(const Operation& operation, int lane, uint32_t function);
  void leave_function(uint32_t lanes);
  void exit(uint32_t lanes);
  void meet(const Operation& operation, uint32_t lanes);
  bool meet_across_places();
  void wait_at_barrier(const Operation& operation, uint32_t lanes);
  void turn_of_another();
};

}  // namespace kernkit::simulator::ptx
