// SPDX-License-Identifier: Apache-2.0
// RaceTraits: the properties of an operation that racecheck uses.
#pragma once

#include <cstdint>

#include "ptx/machine/kernel.h"
#include "tools/memory_order.h"

namespace kernkit::simulator::ptx {

struct RaceTraits : OrderTraits {
  enum Does : uint8_t {
    kNothing,
    kAccesses,
    kFences,
    kWaitsForGrids,
    kReleasesGrids,
    kCommits,
    kWaitsForCopies,
    kWaitsForAllCopies,
    kFencesProxies,
    kFencesInits,
    kCommitsBulkCopies,
    kWaitsForBulkCopies,
    kIssuesProducts,
    kCommitsProducts,
    kWaitsForProducts
  } does = kNothing;
  bool is_mbarrier = false;       // whether the access is to an mbarrier object
  bool completes_copies = false;  // whether the access is cp.async.mbarrier.arrive
  uint32_t number = 0;            // number among the operations that access memory
};

/// Returns the properties of an operation, without `number`.
RaceTraits race_traits_of(const Operation& operation, const Origin& origin);

}  // namespace kernkit::simulator::ptx
