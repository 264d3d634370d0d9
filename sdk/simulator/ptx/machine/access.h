// SPDX-License-Identifier: Apache-2.0
// Access: where the lanes of a warp touch memory. What may not be touched is a Fault.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

enum class Touch { kLoads, kStores, kUpdates };

struct Places {
  alignas(64) unsigned char* at[32];  // of lanes that run
};

/// The addresses of all 32 lanes, in the operation's space.
void read_addresses(Warp& warp, const Operation& operation, uint64_t* to);
/// `size` bytes for each lane.
void find_places(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                 Places* places);
/// Likewise, at addresses of another kind than the operation has.
void find_places_at(Warp& warp, const Operation& operation, const uint64_t* addresses,
                    uint32_t size, Touch touch, Places* places);
/// Makes the operation's range that around an address of global memory; none where there is none.
void renew_range(Warp& warp, const Operation& operation, uint64_t address);

}  // namespace kernkit::simulator::ptx
