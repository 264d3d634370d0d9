// SPDX-License-Identifier: Apache-2.0
// The core's launches.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

/// The configuration of a launch.
struct LaunchRequest {
  dim3 grid;
  dim3 block;
  size_t shared_memory = 0;  // dynamic shared memory [bytes]
  cudaStream_t stream = nullptr;
  dim3 cluster{1, 1, 1};
  bool cooperative = false;
  bool overlaps_previous = false;
};

/// Launches a kernel. `arguments` is an array of pointers to the arguments.
cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void** arguments);
/// Launches a kernel with its arguments in one buffer of `size` bytes, laid out like the members of
/// a C structure.
cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void* buffer,
                          size_t size);

}  // namespace kernkit::simulator::core
