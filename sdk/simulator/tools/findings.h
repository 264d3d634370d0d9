// SPDX-License-Identifier: Apache-2.0
// FindingLedger: what a tool found in many launches, each pair of lines once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "kernkit/simulator/racecheck.h"
#include "tools/report.h"

namespace kernkit::simulator::ptx {

/// As the block of the lowest number has it.
struct Found {
  uint64_t block = 0, count = 0;
  std::string sentence;
};

class FindingLedger {
 public:
  using Pair = std::tuple<std::string, std::string, std::string>;  // kernel, and both lines

  explicit FindingLedger(const char* tool) : tool_(tool) {}
  void add(const Pair& pair, const Found& found);
  std::vector<Finding> findings() const;

 private:
  const char* tool_;
  mutable std::mutex mutex_;
  std::map<Pair, Found> all_;
};

struct RaceLedger : FindingLedger {
  explicit RaceLedger(RaceLevel least = RaceLevel::kError)
      : FindingLedger("racecheck"), level(least) {}
  RaceLevel level;  // the lowest level that is recorded
};
/// Races of a launch or of a call, of either level, until they are added to the ledgers.
struct RacesFound {
  std::map<FindingLedger::Pair, Found> of_warps, of_lanes;
  void tell(const std::vector<RaceLedger*>& ledgers) const;
};
/// Whether one wants races of lanes.
bool wants_lanes(const std::vector<RaceLedger*>& ledgers);
/// How a race's sentence ends.
inline const char* unordered_text(bool of_lanes) {
  return of_lanes ? ", with no __syncwarp() between that orders them"
                  : ", with nothing between that orders them";
}
struct InitLedger : FindingLedger {
  InitLedger() : FindingLedger("initcheck") {}
};

}  // namespace kernkit::simulator::ptx
