// SPDX-License-Identifier: Apache-2.0
#include "tools/undefined_uses.h"

#include "ptx/machine/fault.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

void UndefinedUses::start() {
  const dim3 grid = block_.launch.grid;
  number_ =
      block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
  addresses_.clear();
}

uint32_t UndefinedUses::add_origin(const Warp& warp, int lane, const Operation& operation,
                                   const OriginAddress& address) {
  const uint32_t thread = 32 * warp.number + static_cast<uint32_t>(lane);
  const uint32_t number = 1 + operation.number * kThreads + thread;
  addresses_[number] = address;
  return number;
}

uint32_t UndefinedUses::origin(const Warp& warp, int lane, const Operation& operation, Space space,
                               uint64_t at) {
  return add_origin(warp, lane, operation, {space, at, false});
}

uint32_t UndefinedUses::origin_of_lane(const Warp& warp, int lane, const Operation& operation,
                                       uint32_t from) {
  return add_origin(warp, lane, operation, {Space::kGeneric, from, true});
}

std::string UndefinedUses::byte_text(uint64_t address) const {
  const Range range = block_.launch.memory.range_of(address);
  if (range.begin > range.end) return "global memory";
  return "byte " + std::to_string(address - range.begin) + " of " +
         std::to_string(range.end - range.begin) + " bytes of global memory";
}

std::string UndefinedUses::origin_text(uint32_t origin) const {
  if (origin == 0) return "in a register that was never written";
  const auto finding = addresses_.find(origin);
  if (finding == addresses_.end()) return "";
  const auto& [space, at, is_lane] = finding->second;
  if (is_lane) {
    return "from lane " + std::to_string(at) + ", which takes no part in the shuffle" +
           instrumented_.line_text((origin - 1) / kThreads);
  }
  const std::string location =
      space == Space::kShared  ? "byte " + std::to_string(at) + " of shared memory"
      : space == Space::kLocal ? "byte " + std::to_string(at) + " of local memory"
                               : byte_text(at);
  return "read from " + location + instrumented_.line_text((origin - 1) / kThreads);
}

void UndefinedUses::add(const Warp& warp, int lane, const Operation& operation, const char* message,
                        uint32_t origin, const uint64_t* address) {
  const uint32_t read = origin == 0 ? kNone : (origin - 1) / kThreads;
  FindingCount& finding = all_[{operation.number, message, read}];
  ++finding.count;
  if (finding.count > 1 && finding.block <= number_) return;
  finding.block = number_;
  finding.sentence = location_text(block_, 32 * warp.number + static_cast<uint32_t>(lane)) +
                     message + (address != nullptr ? byte_text(*address) : "") +
                     instrumented_.line_text(operation.number) + ", " + origin_text(origin);
}
void UndefinedUses::add(const Warp& warp, int lane, const Operation& operation, const char* message,
                        uint32_t origin) {
  add(warp, lane, operation, message, origin, nullptr);
}
void UndefinedUses::add_at(const Warp& warp, int lane, const Operation& operation,
                           const char* message, uint32_t origin, uint64_t address) {
  add(warp, lane, operation, message, origin, &address);
}

void UndefinedUses::add_to(const std::vector<InitLedger*>& ledgers) const {
  for (const auto& [key, finding] : all_) {
    const auto& [operation, message, read] = key;
    const FindingLedger::Pair pair{block_.launch.name, message + instrumented_.line_text(operation),
                                   read == kNone ? "" : instrumented_.line_text(read)};
    for (InitLedger* ledger : ledgers) ledger->add(pair, finding);
  }
}

}  // namespace kernkit::simulator::ptx
