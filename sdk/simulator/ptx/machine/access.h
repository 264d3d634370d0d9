// SPDX-License-Identifier: Apache-2.0
// Access: the memory that the lanes of a warp access. An invalid access throws a Fault.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

enum class Touch { kLoads, kStores, kUpdates };

struct LanePointers {
  alignas(64) unsigned char* at[32];  // address in this process for each active lane
};

/// Computes the addresses of all 32 lanes, in the operation's space.
void read_addresses(const Warp& warp, const Operation& operation, uint64_t* to);
/// Finds the memory of an access of `size` bytes in each lane.
void find_pointers(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                   LanePointers* pointers);
/// Finds the memory at `addresses`, which may differ from the operation's address operand.
void find_pointers_at(Warp& warp, const Operation& operation, const uint64_t* addresses,
                      uint32_t size, Touch touch, LanePointers* pointers);
/// Finds the memory of an access of `size` bytes by one lane at a generic address.
unsigned char* find_pointer(Warp& warp, int lane, const Operation& operation, uint64_t address,
                            uint32_t size, Touch touch);
/// Finds memory of one lane at a generic address: `bytes` bytes, in one allocation, whose address
/// is a multiple of `alignment`, a power of two [bytes].
unsigned char* find_bytes(Warp& warp, int lane, const Operation& operation, uint64_t address,
                          uint64_t bytes, uint32_t alignment, Touch touch);
/// Sets the operation's range to the allocation or variable around an address of global memory; to
/// an empty range outside of both.
void renew_range(Warp& warp, const Operation& operation, uint64_t address);

}  // namespace kernkit::simulator::ptx
