// SPDX-License-Identifier: Apache-2.0
// The core's properties and limits of devices.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "libcudart/device_properties.h"

namespace kernkit::simulator::core {

cudaError_t read_device_properties(DeviceProperties* properties, int device);
/// Waits for the current device, and clears its errors. Memory is not released until the process
/// ends.
cudaError_t reset_device();
/// Sets and reads a limit of kernels on the current device by its number in cudaLimit. Only
/// cudaLimitMallocHeapSize has an effect on kernels.
cudaError_t set_limit(int limit, size_t value);
cudaError_t read_limit(size_t* value, int limit);
/// Writes the address of a device on the PCI bus, "0000:01:00.0".
cudaError_t read_pci_address(char* address, int length, int device);
cudaError_t find_device_by_pci_address(int* device, const char* address);

}  // namespace kernkit::simulator::core
