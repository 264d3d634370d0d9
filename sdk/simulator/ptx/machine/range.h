// SPDX-License-Identifier: Apache-2.0
// Window: memory whose addresses in a kernel begin at 0.
#pragma once

#include <cstdint>

#include "device_memory.h"
#include "platform/inline.h"

namespace kernkit::simulator::ptx {

/// Memory whose addresses in a kernel begin at 0, such as shared memory. The memory of lane l
/// starts at `begin + l * bytes_of_lane`.
struct Window {
  unsigned char* begin = nullptr;
  uint64_t bytes = 0;
  int64_t bytes_of_lane = 0;

  KERNKIT_SIMULATOR_INLINE unsigned char* at_lane(int lane) const {
    return begin + bytes_of_lane * lane;
  }
};

}  // namespace kernkit::simulator::ptx
