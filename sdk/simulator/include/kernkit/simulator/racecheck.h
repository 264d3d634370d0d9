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
  kWarn,  ///< lanes of a warp without __syncwarp(); accesses that lack only an acquire fence
  kError  ///< unordered accesses of different warps, blocks, kernels or copies
};
/// The number of levels.
inline constexpr int kRaceLevels = 3;

/// Two unordered accesses to the same byte, at least one of which is a store.
struct Race {
  std::string sentence;                 ///< report with both lines, for the lowest-numbered block
  uint64_t count;                       ///< number of such races at these two lines, in all lanes
  RaceLevel level = RaceLevel::kError;  ///< most severe level of these races
};

/// Reports races of kernels and copies during the object's lifetime, by the happens-before order of
/// the PTX memory model (PTX ISA, Memory Consistency Model). The program must link
/// kernkit::simulator_ptx. While an object exists, blocks run one after the other. Functions throw
/// only std::bad_alloc.
class RaceCheck {
 public:
  /// Begins to record accesses of kernels that are launched from now on. races() returns the races
  /// of this level and of more severe levels. Several objects may exist, each with its own record.
  explicit RaceCheck(RaceLevel level = RaceLevel::kError);
  /// Stops recording, without waiting for kernels.
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  /// Returns a copy of the races so far, with one entry for each pair of lines. Does not wait for
  /// kernels: synchronise the device first.
  std::vector<Race> races() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
