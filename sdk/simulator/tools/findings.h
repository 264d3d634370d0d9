// SPDX-License-Identifier: Apache-2.0
// FindingLedger: the findings of a tool in many launches, one finding for each pair of lines.
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

/// A finding: the number of its occurrences, and the sentence of the lowest-numbered block among
/// the occurrences at the most severe level.
struct FindingCount {
  uint64_t block = 0, count = 0;
  std::string sentence;
  RaceLevel level = RaceLevel::kError;
};

class FindingLedger {
 public:
  // The kernel and the source lines of both accesses. Findings with the same key are counted
  // together.
  using Pair = std::tuple<std::string, std::string, std::string>;

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
  RaceLevel level;  // least severe level that is recorded
};
/// Races of a launch or call by level, until they are added to the ledgers.
struct RaceCounts {
  std::map<FindingLedger::Pair, FindingCount> of_level[kRaceLevels];
  std::map<FindingLedger::Pair, FindingCount>& at(RaceLevel level) {
    return of_level[static_cast<int>(level)];
  }
  void add_to(const std::vector<RaceLedger*>& ledgers) const;
};
/// Returns the least severe level that any ledger records.
RaceLevel least_level(const std::vector<RaceLedger*>& ledgers);
/// Returns the words for an access in the report of a race; `kind` must not be kNone.
inline const char* access_text(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad: return "Read access";
    case AccessKind::kStore: return "Write access";
    case AccessKind::kAtomic: return "Atomic access";
    default: return "Async copy access";
  }
}
/// Returns the beginning of the report of a race: the later access with its byte and line, and the
/// earlier access with its thread and line.
inline std::string race_text(const std::string& access, const std::string& bytes,
                             const std::string& line, const std::string& earlier) {
  return "Race reported between " + access + bytes + line + " and " + earlier;
}
struct InitLedger : FindingLedger {
  InitLedger() : FindingLedger("initcheck") {}
};

}  // namespace kernkit::simulator::ptx
