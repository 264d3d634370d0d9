// SPDX-License-Identifier: Apache-2.0
// Memory of the devices is for their work alone: AddressSanitizer reports a host that touches it.
#pragma once

#include <cstddef>

namespace kernkit::simulator {

/// While one lives, what runs is work of a device.
class DeviceMemoryVisible {
 public:
  DeviceMemoryVisible();
  ~DeviceMemoryVisible();
  DeviceMemoryVisible(const DeviceMemoryVisible&) = delete;
  DeviceMemoryVisible& operator=(const DeviceMemoryVisible&) = delete;
};

/// While one lives, what runs is a kernel: closed to it is what kernkit_close_to_kernels() was
/// told.
class ClosedMemoryInvisible {
 public:
  ClosedMemoryInvisible();
  ~ClosedMemoryInvisible();
  ClosedMemoryInvisible(const ClosedMemoryInvisible&) = delete;
  ClosedMemoryInvisible& operator=(const ClosedMemoryInvisible&) = delete;
};

}  // namespace kernkit::simulator
