// SPDX-License-Identifier: Apache-2.0
// The core's host memory that a program allocates itself and registers for kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

cudaError_t register_host_memory(void* memory, size_t size, unsigned flags);
cudaError_t unregister_host_memory(void* memory);
/// Stores the address at which kernels access host memory.
cudaError_t find_device_pointer(void** on_device, void* on_host);

}  // namespace kernkit::simulator::core
