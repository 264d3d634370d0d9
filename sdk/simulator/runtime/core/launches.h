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

/// Returns the number of threads in a block of this size, or of blocks in a grid or cluster of this
/// size.
inline size_t volume(dim3 size) { return size_t{size.x} * size.y * size.z; }

/// Applies an attribute of a launch. The runtime's and the driver's API use the same numbers and
/// values. Attributes that are not listed here are hints without effect.
template <class Value>
void apply_attribute(int number, const Value& value, LaunchRequest* request) {
  switch (number) {
    case cudaLaunchAttributeCooperative: request->cooperative = value.cooperative != 0; break;
    case cudaLaunchAttributeClusterDimension:
      request->cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
      break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      request->overlaps_previous = value.programmaticStreamSerializationAllowed != 0;
      break;
    default: break;
  }
}

/// Returns the configuration of cudaLaunchKernelExC(); hints without effect are left out.
LaunchRequest request_of(const cudaLaunchConfig_t& config);
/// Launches a kernel. `arguments` is an array of pointers to the arguments.
cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void** arguments);
/// Launches a kernel with its arguments in one buffer of `size` bytes, laid out like the members of
/// a C structure.
cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void* buffer,
                          size_t size);

}  // namespace kernkit::simulator::core
