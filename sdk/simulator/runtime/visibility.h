// SPDX-License-Identifier: Apache-2.0
// Visibility of device memory: AddressSanitizer reports an access to invisible memory, such as an
// access by the host.
#pragma once

#include <cstddef>

namespace kernkit::simulator {

/// Makes device memory accessible under AddressSanitizer during the object's lifetime, for work of
/// a device.
class DeviceMemoryVisible {
 public:
  DeviceMemoryVisible();
  ~DeviceMemoryVisible();
  DeviceMemoryVisible(const DeviceMemoryVisible&) = delete;
  DeviceMemoryVisible& operator=(const DeviceMemoryVisible&) = delete;
};

/// Makes memory that kernkit_close_to_kernels() closed inaccessible under AddressSanitizer during
/// the object's lifetime, for a kernel.
class ClosedMemoryInvisible {
 public:
  ClosedMemoryInvisible();
  ~ClosedMemoryInvisible();
  ClosedMemoryInvisible(const ClosedMemoryInvisible&) = delete;
  ClosedMemoryInvisible& operator=(const ClosedMemoryInvisible&) = delete;
};

}  // namespace kernkit::simulator
