// SPDX-License-Identifier: Apache-2.0
// RaceCheck: races of kernels that nvcc compiled, and of copies. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Two accesses of different warps, blocks, kernels or copies to one byte, one of which changes it.
struct Race {
  std::string sentence;  // report with both lines, for the block with the lowest number
  uint64_t count;        // number of accesses by lanes at these two lines
};

/// Levels as in compute-sanitizer: kWarn adds accesses of two lanes of a warp without __syncwarp().
enum class RaceLevel { kWarn, kError };

/// Follows kernels and copies during its lifetime. The program links kernkit::simulator_ptx.
class RaceCheck {
 public:
  explicit RaceCheck(RaceLevel level = RaceLevel::kError);
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  /// Returns the races, with one entry for each pair of lines.
  std::vector<Race> races() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
