// SPDX-License-Identifier: Apache-2.0
// DeviceMemory: which memory of the process a kernel may touch.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/machine/range.h"

namespace kernkit::simulator::ptx {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// The memory around an address that may be touched; an empty range where it may not.
  virtual Range range_of(uint64_t address) const = 0;
  /// Where an address lies that may not be touched: "4 bytes behind an allocation of 400 bytes".
  virtual std::string place_of(uint64_t address) const = 0;
};

}  // namespace kernkit::simulator::ptx
