// SPDX-License-Identifier: Apache-2.0
// The attributes of a simulated device, the source of cudaDeviceGetAttribute(),
// cudaGetDeviceProperties() and the calculation of occupancy.
#pragma once

#include <array>
#include <cstddef>

#include "kernkit/simulator/runtime.h"

namespace kernkit::simulator {

/// Limits of a compute capability. Source: the tables "Technical Specifications per Compute
/// Capability" and "Throughput of Native Arithmetic Instructions" of the CUDA programming guide.
struct Specification {
  int capability;              // compute capability, 90 for sm_90
  int max_threads_per_sm;      // maximum number of resident threads
  int max_blocks_per_sm;       // maximum number of resident blocks
  int shared_memory_per_sm;    // shared memory [bytes]
  int reserved_shared_memory;  // shared memory that the driver reserves for each block [bytes]
  int float_per_double;        // ratio of the throughputs of float and double

  /// Returns the maximum shared memory per block [bytes].
  int shared_memory_per_block_opt_in() const {
    return shared_memory_per_sm - reserved_shared_memory;
  }
};

/// Returns the limits of a compute capability. An unlisted capability has the limits of the next
/// lower listed capability.
const Specification& specification_of(int capability);

/// Stores the value of attribute `number` of cudaDeviceAttr; `ordinal` is the device's position
/// among all devices, which CUDA_VISIBLE_DEVICES does not change. Returns false and leaves *value
/// unchanged for a number that CUDA 13.0 reserves or does not define.
bool find_device_attribute(const CudaDevice& device, int ordinal, int number, int* value);

/// Returns the UUID of the device at this position among all devices.
std::array<char, 16> uuid_of(int ordinal);

}  // namespace kernkit::simulator
