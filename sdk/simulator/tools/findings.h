// SPDX-License-Identifier: Apache-2.0
// FindingLedger: the findings of a tool in many launches, one for each pair of lines.
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

/// A finding, with the sentence of the lowest-numbered block that has the finding.
struct Found {
  uint64_t block = 0, count = 0;
  std::string sentence;
};

class FindingLedger {
 public:
  using Pair = std::tuple<std::string, std::string, std::string>;  // kernel and both lines

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
  RaceLevel level;  // lowest level that is recorded
};
/// Races between warps and between lanes of a launch or call, until they are added to the ledgers.
struct RacesFound {
  std::map<FindingLedger::Pair, Found> of_warps, of_lanes;
  void tell(const std::vector<RaceLedger*>& ledgers) const;
};
/// Returns whether any ledger records races of lanes.
bool wants_lanes(const std::vector<RaceLedger*>& ledgers);
/// The end of a race's sentence.
inline const char* unordered_text(bool of_lanes) {
  return of_lanes ? ", with no __syncwarp() between that orders them"
                  : ", with nothing between that orders them";
}
struct InitLedger : FindingLedger {
  InitLedger() : FindingLedger("initcheck") {}
};

}  // namespace kernkit::simulator::ptx
