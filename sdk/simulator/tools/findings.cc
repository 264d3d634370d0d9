// SPDX-License-Identifier: Apache-2.0
#include "tools/findings.h"

#include <algorithm>

namespace kernkit::simulator::ptx {

void FindingLedger::add(const Pair& pair, const FindingCount& added) {
  const std::lock_guard<std::mutex> lock(mutex_);
  FindingCount& total = all_[pair];
  const bool is_first = total.count == 0 || added.level > total.level ||
                        (added.level == total.level && added.block < total.block);
  const uint64_t count = total.count + added.count;
  if (is_first) total = added;
  total.count = count;
}

std::vector<Finding> FindingLedger::findings() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [pair, total] : all_) {
    all.push_back({tool_, std::get<0>(pair), total.sentence, total.count, total.level,
                   std::get<0>(pair) + "; " + std::get<1>(pair) + "; " + std::get<2>(pair)});
  }
  return all;
}

void RaceCounts::add_to(const std::vector<RaceLedger*>& ledgers) const {
  for (RaceLedger* ledger : ledgers) {
    for (int level = static_cast<int>(ledger->level); level < kRaceLevels; ++level) {
      for (const auto& [pair, race] : of_level[level]) ledger->add(pair, race);
    }
  }
}

RaceLevel least_level(const std::vector<RaceLedger*>& ledgers) {
  RaceLevel least = RaceLevel::kError;
  for (const RaceLedger* ledger : ledgers) least = std::min(least, ledger->level);
  return least;
}

}  // namespace kernkit::simulator::ptx
