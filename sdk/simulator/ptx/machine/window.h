// SPDX-License-Identifier: Apache-2.0
// Generic addresses: an address of global memory is an address of this process. Spaces with their
// own addresses have windows above all addresses of a process.
#pragma once

#include <cstdint>

#include "platform/inline.h"
#include "ptx/machine/operation.h"

namespace kernkit::simulator::ptx {

inline constexpr int kWindowShift = 60;
inline constexpr uint64_t kSharedWindow = uint64_t{1} << kWindowShift;
inline constexpr uint64_t kLocalWindow = uint64_t{2} << kWindowShift;
inline constexpr uint64_t kParamWindow = uint64_t{3} << kWindowShift;
// Start of the addresses of functions, which are multiples of 16.
inline constexpr uint64_t kCodeWindow = uint64_t{4} << kWindowShift;
inline constexpr uint64_t kInWindow = kSharedWindow - 1;
// An address of shared memory contains the rank of its block in the cluster from bit 24 on;
// programs of CUTLASS clear bit 24 to reach the even block of a pair.
inline constexpr int kRankShift = 24;
inline constexpr uint64_t kInBlock = (uint64_t{1} << kRankShift) - 1;
inline uint64_t shared_base(uint32_t rank) { return uint64_t{rank} << kRankShift; }

/// The space of a generic address, and the address within the space.
struct Located {
  Space space;
  uint64_t at;
};
KERNKIT_SIMULATOR_INLINE Located located(uint64_t address) {
  switch (address >> kWindowShift) {
    case kSharedWindow >> kWindowShift: return {Space::kShared, address & kInWindow};
    case kLocalWindow >> kWindowShift: return {Space::kLocal, address & kInWindow};
    case kParamWindow >> kWindowShift: return {Space::kParam, address & kInWindow};
    default: return {Space::kGlobal, address};
  }
}

inline uint64_t address_of_function(uint32_t number) { return kCodeWindow + 16 * uint64_t{number}; }

}  // namespace kernkit::simulator::ptx
