// SPDX-License-Identifier: Apache-2.0
// RaceCheck: races of kernels that nvcc compiled, and of copies. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Severity of a race, like compute-sanitizer's --racecheck-detect-level. docs/racecheck.md defines
/// the levels.
enum class RaceLevel {
  kInfo,  ///< stores of the same value; strong accesses that nothing orders
  kWarn,  ///< unordered accesses by lanes of a warp; accesses that lack only an acquire fence
  kError  ///< unordered accesses of different warps, blocks, kernels or copies
};
/// The number of levels.
inline constexpr int kRaceLevels = 3;

/// Two unordered accesses to the same byte, at least one of which is a store.
struct Race {
  std::string sentence;  ///< report with the lines of both accesses, for the lowest-numbered block
  uint64_t count;        ///< number of races at these two lines, counted for each lane
  RaceLevel level = RaceLevel::kError;  ///< most severe level of these races
};

/// Reports races of PTX kernels and copies that begin to run during the object's lifetime, by the
/// happens-before order of the PTX memory model (PTX ISA, Memory Consistency Model). Requires that
/// the program links kernkit::simulator_ptx. While a RaceCheck exists, blocks run on one processor.
/// Several objects may exist, each with its own record. While an object is created or destroyed, no
/// kernel may run in another thread. Functions throw only std::bad_alloc.
class RaceCheck {
 public:
  /// Begins to record races of this level and of more severe levels (kInfo < kWarn < kError). Races
  /// with accesses of kernels and copies that ended earlier are not reported, unless another
  /// RaceCheck recorded the accesses.
  explicit RaceCheck(RaceLevel level = RaceLevel::kError);
  /// Stops recording, without waiting: kernels and copies that have not begun are not checked.
  /// Throws nothing.
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  /// Returns a copy of the races so far, with one entry for each kernel or copy and pair of lines,
  /// ordered by the kernel's name. Does not wait for kernels: synchronise the device first.
  std::vector<Race> races() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
