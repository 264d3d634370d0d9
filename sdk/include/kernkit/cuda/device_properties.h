// SPDX-License-Identifier: Apache-2.0
// device_properties(): the properties of a device that a launch needs, queried once per process.
#pragma once

#include "kernkit/cuda/check.h"

namespace kernkit::cuda {

/// Sizes and limits of one device. Memory sizes are in bytes; extents are x, y, z.
struct DeviceProperties {
  int compute_capability;  // 90 for sm_90
  int sm_count;
  int max_threads_per_sm;
  int max_threads_per_block;
  int shared_memory_per_sm;
  int shared_memory_per_block;         // without opting in: 48 KiB [bytes]
  int shared_memory_per_block_opt_in;  // the maximum for a block [bytes]
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

[[gnu::cold]] const DeviceProperties& query_device_properties(int device);
}  // namespace detail

/// Properties of device `device`, kept after the first call. Safe from several threads and during
/// stream capture. Throws RuntimeError if the runtime fails, or for a device above 127.
inline const DeviceProperties& device_properties(int device) {
  if (__builtin_expect(static_cast<unsigned>(device) < detail::kMaxDevices, 1)) {
    const detail::DevicePropertiesSlot& slot = detail::device_properties_slots[device];
    if (__builtin_expect(__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == 2, 1)) {
      return slot.properties;
    }
  }
  return detail::query_device_properties(device);
}

}  // namespace kernkit::cuda

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cuda/impl/device_properties.h"
#endif
