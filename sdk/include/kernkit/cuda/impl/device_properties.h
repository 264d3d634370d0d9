// SPDX-License-Identifier: Apache-2.0
// Queries of a device's properties.
#pragma once

#include "kernkit/cuda/device_properties.h"

namespace kernkit::cuda::detail {

KERNKIT_COLD int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  KERNKIT_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

KERNKIT_COLD const DeviceProperties& query_device_properties(int device) {
  KERNKIT_CHECK(static_cast<unsigned>(device) < kMaxDevices, RuntimeError)
      << "device cuda:" << device << " is beyond the " << kMaxDevices << " that kernkit supports";
  DeviceProperties queried{};
  queried.compute_capability = attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 +
                               attribute(cudaDevAttrComputeCapabilityMinor, device);
  queried.sm_count = attribute(cudaDevAttrMultiProcessorCount, device);
  queried.max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
  queried.max_threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock, device);
  queried.shared_memory_per_sm = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  queried.shared_memory_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock, device);
  queried.shared_memory_per_block_opt_in =
      attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  queried.max_block[0] = attribute(cudaDevAttrMaxBlockDimX, device);
  queried.max_block[1] = attribute(cudaDevAttrMaxBlockDimY, device);
  queried.max_block[2] = attribute(cudaDevAttrMaxBlockDimZ, device);
  queried.max_grid[0] = attribute(cudaDevAttrMaxGridDimX, device);
  queried.max_grid[1] = attribute(cudaDevAttrMaxGridDimY, device);
  queried.max_grid[2] = attribute(cudaDevAttrMaxGridDimZ, device);

  // Several threads may query at the same time: one thread writes the slot, and the other threads
  // wait for that thread.
  DevicePropertiesSlot& slot = device_properties_slots[device];
  int empty = 0;
  if (__atomic_compare_exchange_n(&slot.state, &empty, 1, false, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    slot.properties = queried;
    __atomic_store_n(&slot.state, 2, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) != 2) {
  }
  return slot.properties;
}

}  // namespace kernkit::cuda::detail
