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
  std::string sentence;  // with both lines, as the block of the lowest number had it
  uint64_t count;        // how many accesses of lanes these two lines had
};

/// As compute-sanitizer has them: kWarn adds accesses of two lanes of a warp without __syncwarp().
enum class RaceLevel { kWarn, kError };

/// Watches kernels and copies while it lives. The program links kernkit::simulator_ptx.
class RaceCheck {
 public:
  explicit RaceCheck(RaceLevel level = RaceLevel::kError);
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  /// Each pair of lines once.
  std::vector<Race> races() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
