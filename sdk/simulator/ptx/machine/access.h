// SPDX-License-Identifier: Apache-2.0
// Access: the memory that the lanes of a warp access. An invalid access throws a Fault.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

enum class Touch { kLoads, kStores, kUpdates };

struct LanePointers {
  alignas(64) unsigned char* at[32];  // host address for each active lane
};

/// Stores the addresses that the 32 lanes access, in the operation's space, in to[0] to to[31].
void read_addresses(const Warp& warp, const Operation& operation, uint64_t* to);
/// Finds the memory of an access of `size` bytes in each lane.
void find_pointers(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                   LanePointers* pointers);
/// Finds the memory of an access of `size` bytes at addresses[lane] in each active lane, instead of
/// at the operation's address operand.
void find_pointers_at(Warp& warp, const Operation& operation, const uint64_t* addresses,
                      uint32_t size, Touch touch, LanePointers* pointers);
/// Finds the memory of an access of `size` bytes by one lane at a generic address.
unsigned char* find_pointer(Warp& warp, int lane, const Operation& operation, uint64_t address,
                            uint32_t size, Touch touch);
/// Finds the memory of an access of `bytes` bytes by one lane at a generic address. The bytes must
/// be in one allocation, and the address must be a multiple of `alignment`, a power of two [bytes].
unsigned char* find_bytes(Warp& warp, int lane, const Operation& operation, uint64_t address,
                          uint64_t bytes, uint32_t alignment, Touch touch);
/// Sets the operation's cached range for an access to a global address: to the variable of global
/// memory from which the address is derived or, for an address that is derived from no variable, to
/// the allocation that contains the address. The range is empty if there is no such memory.
void renew_range(Warp& warp, const Operation& operation, uint64_t address);

}  // namespace kernkit::simulator::ptx
