// SPDX-License-Identifier: Apache-2.0
// The core's properties and limits of devices.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "libcudart/device_properties.h"

namespace kernkit::simulator::core {

cudaError_t read_device_properties(DeviceProperties* properties, int device);
/// Waits for the current device and clears its errors. Unlike on a GPU, memory is not released.
cudaError_t reset_device();
/// Sets a limit of the current device; `limit` is a value of cudaLimit. Only
/// cudaLimitMallocHeapSize has an effect on kernels. read_limit() stores the limit.
cudaError_t set_limit(int limit, size_t value);
cudaError_t read_limit(size_t* value, int limit);
/// Writes a device's PCI address, such as "0000:01:00.0", to `address`, an array of `length`
/// characters.
cudaError_t read_pci_address(char* address, int length, int device);
cudaError_t find_device_by_pci_address(int* device, const char* address);

}  // namespace kernkit::simulator::core
