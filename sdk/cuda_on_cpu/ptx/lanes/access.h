// SPDX-License-Identifier: Apache-2.0
// Access: where the lanes of a warp touch memory. What may not be touched is a Fault.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace kernkit::cuda_on_cpu::ptx {

enum class Touch { kLoads, kStores, kUpdates };

struct Places {
  alignas(64) unsigned char* at[32];  // of lanes that run
  bool contiguous = false;            // all 32 run, one behind the other
  bool same = false;                  // all 32 run, at one address
};

/// `size` bytes for each lane.
void find_places(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                 Places* places);

}  // namespace kernkit::cuda_on_cpu::ptx
