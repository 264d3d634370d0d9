// SPDX-License-Identifier: Apache-2.0
#include "tools/findings.h"

#include <algorithm>

namespace kernkit::simulator::ptx {

void FindingLedger::add(const Pair& pair, const FindingCount& added) {
  const std::lock_guard<std::mutex> lock(mutex_);
  FindingCount& total = all_[pair];
  if (total.count == 0 || added.block < total.block) {
    total.block = added.block;
    total.sentence = added.sentence;
  }
  total.count += added.count;
}

std::vector<Finding> FindingLedger::findings() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [pair, total] : all_) {
    all.push_back({tool_, std::get<0>(pair), total.sentence, total.count});
  }
  return all;
}

void RaceCounts::add_to(const std::vector<RaceLedger*>& ledgers) const {
  for (RaceLedger* ledger : ledgers) {
    for (const auto& [pair, race] : of_warps) ledger->add(pair, race);
    if (ledger->level != RaceLevel::kWarn) continue;
    for (const auto& [pair, race] : of_lanes) ledger->add(pair, race);
  }
}

bool wants_lanes(const std::vector<RaceLedger*>& ledgers) {
  return std::any_of(ledgers.begin(), ledgers.end(),
                     [](const RaceLedger* ledger) { return ledger->level == RaceLevel::kWarn; });
}

}  // namespace kernkit::simulator::ptx
