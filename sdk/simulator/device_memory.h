// SPDX-License-Identifier: Apache-2.0
// DeviceMemory: the memory of the process that a kernel may access.
#pragma once

#include <cstdint>
#include <string>

namespace kernkit::simulator {

/// The range [begin, end) of addresses in this process; empty by default.
struct Range {
  uint64_t begin = 1,  ///< first address
      end = 0;         ///< address past the last byte
};

/// Interface: the memory of the process that a kernel may access, such as allocations or the
/// variables of a module.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// Returns the accessible range that contains the address; an empty range if the address is
  /// inaccessible.
  virtual Range range_of(uint64_t address) const = 0;
  /// Describes an inaccessible address, such as "4 bytes after an allocation of 400 bytes".
  virtual std::string location_of(uint64_t address) const = 0;
  /// Returns the name of the variable that contains an address; "" if no variable contains the
  /// address.
  virtual std::string variable_at(uint64_t /*address*/) const { return ""; }
};

}  // namespace kernkit::simulator
