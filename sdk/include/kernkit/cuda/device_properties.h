// SPDX-License-Identifier: Apache-2.0
// device_properties(): what a launch must know of a device, asked once per process.
#pragma once

#include "kernkit/cuda/check.h"

namespace kernkit::cuda {

/// Sizes and limits of one device. Bytes for memory; x, y, z for extents.
struct DeviceProperties {
  int compute_capability;  // 90 for sm_90
  int sm_count;
  int max_threads_per_sm;
  int max_threads_per_block;
  int shared_memory_per_sm;
  int shared_memory_per_block;         // without opting in: 48 KiB
  int shared_memory_per_block_opt_in;  // what a block can have at most
  int max_block[3];
  int max_grid[3];
};

namespace detail {
inline constexpr int kMaxDevices = 128;

struct DevicePropertiesSlot {
  int state;  // 0 empty, 1 being written, 2 ready
  DeviceProperties properties;
};
inline DevicePropertiesSlot device_properties_slots[kMaxDevices];

[[gnu::cold]] const DeviceProperties& ask_device_properties(int device);
}  // namespace detail

/// Properties of device `device`, kept from the first call on. Safe from several threads and during
/// stream capture. Throws RuntimeError when the runtime does, or beyond device 127.
inline const DeviceProperties& device_properties(int device) {
  if (__builtin_expect(static_cast<unsigned>(device) < detail::kMaxDevices, 1)) {
    const detail::DevicePropertiesSlot& slot = detail::device_properties_slots[device];
    if (__builtin_expect(__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == 2, 1)) {
      return slot.properties;
    }
  }
  return detail::ask_device_properties(device);
}

}  // namespace kernkit::cuda

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cuda/impl/device_properties.h"
#endif
