// SPDX-License-Identifier: Apache-2.0
#include "tools/race_traits.h"

#include <string_view>

namespace kernkit::simulator::ptx {
namespace {

uint8_t element_bytes_of(Type type) {
  switch (type) {
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kU16x2:
    case Type::kS16x2: return 2;
    case Type::kE4M3x2:
    case Type::kE5M2x2: return 1;
    case Type::kF32x2: return 4;
    default: return static_cast<uint8_t>(size_of(type));
  }
}

}  // namespace

RaceTraits race_traits_of(const Operation& operation, const Origin& origin) {
  RaceTraits traits;
  if (origin.instruction == nullptr) return traits;
  traits.acquires = origin.acquires();
  traits.releases = origin.releases();
  switch (origin.instruction->definedness) {
    case Definedness::kCommit: traits.does = RaceTraits::kCommits; return traits;
    case Definedness::kWait: traits.does = RaceTraits::kWaitsForCopies; return traits;
    case Definedness::kWaitAll: traits.does = RaceTraits::kWaitsForAllCopies; return traits;
    default: break;
  }
  if (origin.has_effect(Effect::kWaitsForGrids)) traits.does = RaceTraits::kWaitsForGrids;
  if (origin.has_effect(Effect::kReleasesGrids)) traits.does = RaceTraits::kReleasesGrids;
  static constexpr struct {
    Effect effect;
    RaceTraits::Does does;
  } kEffects[] = {{Effect::kFencesProxies, RaceTraits::kFencesProxies},
                  {Effect::kFencesInits, RaceTraits::kFencesInits},
                  {Effect::kCommitsCopies, RaceTraits::kCommitsBulkCopies},
                  {Effect::kWaitsForCopies, RaceTraits::kWaitsForBulkCopies},
                  {Effect::kIssuesProducts, RaceTraits::kIssuesProducts},
                  {Effect::kCommitsProducts, RaceTraits::kCommitsProducts},
                  {Effect::kWaitsForProducts, RaceTraits::kWaitsForProducts}};
  for (const auto& item : kEffects) {
    if (origin.has_effect(item.effect)) traits.does = item.does;
  }
  traits.fence_scope = origin.fence_scope();
  if (traits.fence_scope != ThreadScope::kNone) traits.does = RaceTraits::kFences;
  traits.access = origin.access;
  if (origin.access == AccessKind::kNone) return traits;
  traits.does = RaceTraits::kAccesses;
  traits.completes_copies = origin.instruction->definedness == Definedness::kArrive;
  traits.scope = origin.strong_scope();
  traits.element_bytes = element_bytes_of(origin.type);
  traits.is_cas = origin.access == AccessKind::kAtomic && operation.src2 != kNone;
  traits.is_reduction = std::string_view(origin.instruction->name) == "red";
  traits.is_mbarrier =
      traits.completes_copies || std::string_view(origin.instruction->name) == "mbarrier";
  return traits;
}

}  // namespace kernkit::simulator::ptx
