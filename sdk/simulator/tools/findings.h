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
#include "ptx/isa/instruction.h"
#include "tools/report.h"

namespace kernkit::simulator::ptx {

/// A finding, with the sentence of the lowest-numbered block that has the finding.
struct FindingCount {
  uint64_t block = 0, count = 0;
  std::string sentence;
};

class FindingLedger {
 public:
  using Pair = std::tuple<std::string, std::string, std::string>;  // kernel and both lines

  explicit FindingLedger(const char* tool) : tool_(tool) {}
  void add(const Pair& pair, const FindingCount& added);
  std::vector<Finding> findings() const;

 private:
  const char* tool_;
  mutable std::mutex mutex_;
  std::map<Pair, FindingCount> all_;
};

struct RaceLedger : FindingLedger {
  explicit RaceLedger(RaceLevel least = RaceLevel::kError)
      : FindingLedger("racecheck"), level(least) {}
  RaceLevel level;  // lowest level that is recorded
};
/// Races between warps and between lanes of a launch or call, until they are added to the ledgers.
struct RaceCounts {
  std::map<FindingLedger::Pair, FindingCount> of_warps, of_lanes;
  void add_to(const std::vector<RaceLedger*>& ledgers) const;
};
/// Returns whether any ledger records races of lanes.
bool wants_lanes(const std::vector<RaceLedger*>& ledgers);
/// The words for an access in a race's sentence; `kind` is not kNone.
inline const char* access_text(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad: return "Read access";
    case AccessKind::kStore: return "Write access";
    case AccessKind::kAtomic: return "Atomic access";
    default: return "Async copy access";
  }
}
/// The beginning of a race's sentence: the later access, at which byte, at which line, and the
/// earlier access with its thread and line.
inline std::string race_text(const std::string& access, const std::string& bytes,
                             const std::string& line, const std::string& earlier) {
  return "Race reported between " + access + bytes + line + " and " + earlier;
}
/// The end of a race's sentence.
inline const char* unordered_text(bool of_lanes) {
  return of_lanes ? ", with no __syncwarp() between that orders them"
                  : ", with nothing between that orders them";
}
struct InitLedger : FindingLedger {
  InitLedger() : FindingLedger("initcheck") {}
};

}  // namespace kernkit::simulator::ptx
