// SPDX-License-Identifier: Apache-2.0
// device_properties(): the properties of a device that a launch needs, queried once per process.
#pragma once

#include "kernkit/cuda/check.h"

namespace kernkit::cuda {

/// Properties and limits of one device, as cudaDeviceGetAttribute() returns them. Extents are in
/// the order x, y, z.
struct DeviceProperties {
  int compute_capability;              ///< compute capability: 90 for sm_90
  int sm_count;                        ///< number of streaming multiprocessors (SMs)
  int max_threads_per_sm;              ///< largest number of resident threads of an SM
  int max_threads_per_block;           ///< largest number of threads of a block
  int shared_memory_per_sm;            ///< shared memory of an SM [bytes]
  int shared_memory_per_block;         ///< default limit of a block, 48 KiB [bytes]
  int shared_memory_per_block_opt_in;  ///< limit of a block whose kernel opts in [bytes]
  int max_block[3];                    ///< largest number of threads of a block in x, y and z
  int max_grid[3];                     ///< largest number of blocks of a grid in x, y and z
};

namespace detail {
inline constexpr int kMaxDevices = 128;

struct DevicePropertiesSlot {
  int state;  // 0: empty, 1: being written, 2: ready
  DeviceProperties properties;
};
inline DevicePropertiesSlot device_properties_slots[kMaxDevices];

[[gnu::cold]] const DeviceProperties& query_device_properties(int device);
}  // namespace detail

/// Returns the properties of device `device`, whichever device is current. The first call for a
/// device queries them; they are then kept until the end of the process, and the reference stays
/// valid. Safe from several threads and during stream capture. Throws RuntimeError if the runtime
/// fails, in which case the next call queries again, or for a device outside [0, 127].
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
