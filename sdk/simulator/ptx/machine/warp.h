// SPDX-License-Identifier: Apache-2.0
// Warp: 32 lanes. Lanes with the same pc run an operation together; lanes that diverged are parts
// of the warp. The part with the lowest pc runs first, so that parts can reconverge.
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

inline constexpr unsigned kMostWarps = 32;    // maximum number of warps of a block
inline constexpr unsigned kWarpsOfGroup = 4;  // warps of a warpgroup

/// kLane[l] is the bit of lane l in a mask.
alignas(64) inline constexpr uint32_t kLane[32] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

inline namespace KERNKIT_PTX_TARGET {

/// Copies the elements of the lanes in `mask` from `some` to `all`.
template <class X>
__attribute__((noinline)) void keep_some(X* all, const X* some, uint32_t mask) {
  for (int l = 0; l < 32; ++l) all[l] = (mask & kLane[l]) != 0 ? some[l] : all[l];
}

}  // namespace KERNKIT_PTX_TARGET

/// Lanes of a warp that have the same program counter and the same state.
struct Part {
  enum State : uint8_t {
    kReady,
    kSynchronises,
    kWaits,
    kTriesToWait,
    kWaitsForCluster,
    kWaitsForWarpgroup
  } state;
  uint32_t pc;
  uint32_t mask;
  uint32_t barrier;  // number of the barrier, for kWaits
};

/// The state that a lane restores when a function returns.
struct Caller {
  uint32_t pc;
  uint32_t call, function;               // indices into Kernel::calls and Kernel::functions
  std::vector<unsigned char> registers;  // saved registers of the lane
};

struct alignas(64) Warp {
  enum class Stop { kEnded, kWaits, kYields };
  static constexpr uint32_t kAll = UINT32_MAX;

  // State for operations.
  alignas(64) unsigned char scratch[256];
  uint32_t mask = 0;  // lanes that run the operation
  unsigned char* registers = nullptr;
  Block* block = nullptr;
  Window local, parameters;
  Window shared;            // empty if shared addresses contain a rank
  Range* ranges = nullptr;  // allocation or variable that each operation accessed last
  unsigned number = 0;      // number of the warp in the block
  AsyncCopies copies;

  // State of control flow.
  uint32_t live = 0;
  uint32_t pc = 0;
  uint32_t active = 0;              // lanes of the part that runs; 0 if no part runs
  uint32_t next_part = kNone;       // pc at which another part waits to run
  bool runs_early = false;          // whether the part runs although another part has a lower pc
  uint32_t times_out = 0;           // lanes whose next mbarrier.try_wait does not wait
  uint32_t in_cluster_barrier = 0;  // lanes between barrier.cluster.arrive and .wait
  uint64_t cluster_phase[32] = {};  // phase of barrier.cluster in which each lane arrived
  uint64_t product_groups = 0;      // groups of products that the warp has committed
  std::vector<Part> parts;          // parts that do not run
  std::vector<Caller> callers[32];  // call stack of each lane, innermost call last

  // The following functions are always inlined, so that each SIMD target compiles its own copy.
  template <class T>
  KERNKIT_SIMULATOR_INLINE T* lanes(uint32_t at) const {
    return static_cast<T*>(__builtin_assume_aligned(registers + at, 64));
  }
  KERNKIT_SIMULATOR_INLINE uint32_t& predicate(uint32_t at) const {
    return *reinterpret_cast<uint32_t*>(registers + at);
  }
  KERNKIT_SIMULATOR_INLINE void set_predicate(uint32_t at, uint32_t bits) {
    uint32_t& all = predicate(at);
    all = (all & ~mask) | (bits & mask);
  }
  /// Returns memory for the results of all 32 lanes: register `at`, or a buffer if lanes are
  /// inactive. Call keep() afterwards, which copies the results of the lanes in `mask` from the
  /// buffer to the register.
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

  /// Starts the lanes in the mask `threads` at the first operation.
  void start(uint32_t threads);
  /// Runs until all lanes have ended or wait, or until it is another warp's turn.
  Stop run();
  bool is_ready() const;
  /// Lets lanes that wait for a phase of an mbarrier test the phase again.
  void retry_waits();
  /// Lets lanes that wait for products of the warpgroup test again whether the products are
  /// complete.
  void retry_products();
  /// Lets lanes that wait for a phase continue without the phase, as after the time limit of
  /// mbarrier.try_wait, unless the program only repeats the wait. Returns whether lanes continue.
  bool time_out_waits();

 private:
  friend struct Block;
  uint32_t lanes_of(const Operation& operation) const;
  void run_straight(const Operation* code);
  bool select_next_part();
  void suspend(Part::State state, uint32_t mask, uint32_t at, uint32_t barrier = 0);
  void go_to(uint32_t target);
  void branch(const Operation& operation, uint32_t taken);
  void branch_by_table(const Operation& operation, uint32_t taken);
  void call(const Operation& operation, uint32_t lanes);
  void call(const Operation& operation, int lane, uint32_t function);
  void leave_function(uint32_t lanes);
  void exit(uint32_t lanes);
  void sync_warp(const Operation& operation, uint32_t lanes);
  bool sync_call_sites();
  void wait_at_barrier(const Operation& operation, uint32_t lanes);
  void try_wait(const Operation& operation, uint32_t lanes);
  void wait_for_cluster(const Operation& operation, uint32_t lanes);
  void turn_of_another();
};

}  // namespace kernkit::simulator::ptx
