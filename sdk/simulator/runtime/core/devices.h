// SPDX-License-Identifier: Apache-2.0
// The core's devices and texts of errors.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::simulator::core {

/// Returns CUDA's text for an error; null for an unknown error number.
const char* text_of_error(cudaError_t error);
/// Stores the number of devices; returns cudaErrorNoDevice if there is none.
cudaError_t count_devices(int* count);
/// Makes a device current in this thread.
cudaError_t set_device(int device);
cudaError_t read_device_attribute(int* value, int attribute, int device);
/// Waits for the work of the current device.
cudaError_t wait_for_device();
/// Stores the lowest and the highest priority of streams.
cudaError_t read_priorities(int* least, int* greatest);
cudaError_t read_driver_version(int* version);

}  // namespace kernkit::simulator::core
