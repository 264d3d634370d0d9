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

/// The maximum number of blocks in a cluster of a device of compute capability 9.0 or later.
constexpr size_t kMaxClusterSize = 8;

/// Returns the number of threads or blocks in an extent.
inline size_t volume(dim3 size) { return size_t{size.x} * size.y * size.z; }

/// Returns the configuration of cudaLaunchKernelExC(); hints without effect are left out.
LaunchRequest request_of(const cudaLaunchConfig_t& config);
/// Launches a kernel. `arguments` is an array of pointers to the arguments.
cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void** arguments);
/// Launches a kernel with its arguments in one buffer of `size` bytes, laid out like the members of
/// a C structure.
cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void* buffer,
                          size_t size);

}  // namespace kernkit::simulator::core
