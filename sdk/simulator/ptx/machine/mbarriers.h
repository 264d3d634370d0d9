// SPDX-License-Identifier: Apache-2.0
// Mbarriers: the mbarrier objects in a block's shared memory (PTX ISA, "Parallel Synchronization
// and Communication Instructions: mbarrier"). An object is 64 bits of shared memory in a layout of
// the simulator; the list of live objects finds uses before mbarrier.init or after mbarrier.inval.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernkit::simulator::ptx {

/// The state of an mbarrier object, which is also the token that mbarrier.arrive returns.
struct MbarrierState {
  static constexpr uint32_t kMostArrivals = (1u << 20) - 1;  // most expected arrivals
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
  /// Adds to the tx-count.
  std::string expect(uint32_t at, int64_t bytes);
  /// Subtracts from the tx-count, which may complete the phase.
  std::string complete(uint32_t at, int64_t bytes);
  /// Counts `count` arrivals. `drops` reduces the arrivals that later phases expect as well.
  std::string arrive(uint32_t at, uint32_t count, bool drops);
  /// Adds one arrival that the current phase expects.
  std::string add_pending(uint32_t at);
  /// Returns "" if an object at the offset can be used, and stores its state.
  std::string read(uint32_t at, MbarrierState* state) const;

  /// Returns the number of phases of the object at an offset that have completed, counted from any
  /// number at mbarrier.init on; 0 without an object.
  uint64_t phases(uint32_t at) const;
  /// Returns the number of the object's current phase, from 0 at mbarrier.init.
  uint64_t phase_of(uint32_t at) const;
  /// Records that a warp has waited for the phase before the current phase of the object.
  void note_wait(uint32_t at, unsigned warp);
  /// Describes the phases that completed since the last wait of a warp, if the warp waits for a
  /// phase that follows them: " although phases 1 and 2 completed ..."; "" otherwise.
  std::string lapped_text(uint32_t at, unsigned warp) const;

  /// Changes when a phase of any object completes.
  uint64_t completed_phases() const { return completed_; }
  /// Describes what the current phase lacks: "1 of 4 arrivals and 16 bytes missing".
  static std::string missing_text(const MbarrierState& state);

 private:
  struct Live {
    uint32_t at;
    uint64_t word;                      // the last state, to find stores to the object's memory
    uint64_t first;                     // number of the object's first phase
    uint64_t phases;                    // number of the current phase
    std::vector<uint64_t> waited = {};  // for each warp, phases that it has waited for
  };
  const Live* live_at(uint32_t at) const;
  std::string find(uint32_t at, MbarrierState* state, Live** live);
  void keep(Live* live, MbarrierState state);

  unsigned char* shared_;
  std::vector<Live> live_;
  uint64_t completed_ = 0;
};

}  // namespace kernkit::simulator::ptx
