// SPDX-License-Identifier: Apache-2.0
#include "tools/findings.h"

#include <algorithm>

namespace kernkit::simulator::ptx {

void FindingLedger::add(const Pair& pair, const Found& found) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Found& one = all_[pair];
  if (one.count == 0 || found.block < one.block) {
    one.block = found.block;
    one.sentence = found.sentence;
  }
  one.count += found.count;
}

std::vector<Finding> FindingLedger::findings() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [pair, found] : all_) {
    all.push_back({tool_, std::get<0>(pair), found.sentence, found.count});
  }
  return all;
}

void RacesFound::add_to(const std::vector<RaceLedger*>& ledgers) const {
  for (RaceLedger* ledger : ledgers) {
    for (const auto& [pair, race] : of_warps) ledger->add(pair, race);
    if (ledger->level != RaceLevel::kWarn) continue;
    for (const auto& [pair, race] : of_lanes) ledger->add(pair, race);
  }
}

bool wants_lanes(const std::vector<RaceLedger*>& ledgers) {
  return std::any_of(ledgers.begin(), ledgers.end(),
                     [](const RaceLedger* one) { return one->level == RaceLevel::kWarn; });
}

}  // namespace kernkit::simulator::ptx
