// SPDX-License-Identifier: Apache-2.0
// Mbarriers: the mbarrier objects in a block's shared memory (PTX ISA, "Parallel Synchronization
// and Communication Instructions: mbarrier"). An object is 64 bits of shared memory in the
// simulator's own layout. With the list of live objects, Mbarriers detects uses before
// mbarrier.init or after mbarrier.inval.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernkit::simulator::ptx {

/// The state of an mbarrier object, which is also the token that mbarrier.arrive returns.
struct MbarrierState {
  static constexpr uint32_t kMostArrivals = (1u << 20) - 1;  // maximum number of expected arrivals
  static constexpr int32_t kMostBytes = (1 << 20) - 1;       // largest magnitude of tx-count
  uint32_t phase = 0;     // number of the current phase, modulo 4
  uint32_t expected = 0;  // arrivals that each phase expects
  uint32_t pending = 0;   // arrivals that the current phase still expects
  int32_t bytes = 0;      // tx-count: bytes of transactions that the current phase still expects

  static MbarrierState unpack(uint64_t word);
  uint64_t pack() const;
};

/// The mbarrier objects of a block, by their offsets in shared memory. Each function that changes
/// an object returns "", or the reason why the change is invalid.
class Mbarriers {
 public:
  /// `shared` is the first byte of the block's shared memory.
  explicit Mbarriers(unsigned char* shared) : shared_(shared) {}
  void clear() { live_.clear(); }
  bool any() const { return !live_.empty(); }

  std::string init(uint32_t at, uint32_t count);
  std::string invalidate(uint32_t at);
  /// Adds `bytes` to the tx-count.
  std::string expect(uint32_t at, int64_t bytes);
  /// Subtracts `bytes` from the tx-count, which may complete the phase.
  std::string complete(uint32_t at, int64_t bytes);
  /// Counts `count` arrivals. With `drops`, later phases expect `count` fewer arrivals.
  std::string arrive(uint32_t at, uint32_t count, bool drops);
  /// Adds one to the arrivals that the current phase still expects.
  std::string add_pending(uint32_t at);
  /// Stores the state of the object at an offset. Returns "", or the reason why the object cannot
  /// be used.
  std::string read(uint32_t at, MbarrierState* state) const;

  /// Returns a counter that increases when a phase of the object at an offset completes; 0 if no
  /// object is at the offset. The value at mbarrier.init is arbitrary.
  uint64_t phases(uint32_t at) const;
  /// Returns the number of the object's current phase, counted from 0 since mbarrier.init; 0 if no
  /// object is at the offset.
  uint64_t phase_of(uint32_t at) const;
  /// Records that a warp has waited for the phase before the current phase of the object.
  void note_wait(uint32_t at, unsigned warp);
  /// Describes the phases that completed since the last wait of a warp if there are at least two:
  /// ", phases 1 to 2 completed since the thread's last wait: the thread was lapped"; returns ""
  /// otherwise.
  std::string lapped_text(uint32_t at, unsigned warp) const;

  /// Returns a counter that increases when a phase of any object completes.
  uint64_t completed_phases() const { return completed_; }
  /// Describes the missing arrivals and bytes of the current phase: "1 of 4 arrivals and 16 bytes
  /// missing".
  static std::string missing_text(const MbarrierState& state);

 private:
  struct Live {
    uint32_t at;
    uint64_t word;                      // last state, to detect other stores to the object
    uint64_t first;                     // number of the object's first phase
    uint64_t phases;                    // number of the current phase
    std::vector<uint64_t> waited = {};  // number of the current phase at the last wait of each warp
  };
  const Live* live_at(uint32_t at) const;
  std::string find(uint32_t at, MbarrierState* state, Live** live);
  void keep(Live* live, MbarrierState state);

  unsigned char* shared_;
  std::vector<Live> live_;
  uint64_t completed_ = 0;
};

}  // namespace kernkit::simulator::ptx
