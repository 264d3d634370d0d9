// SPDX-License-Identifier: Apache-2.0
// The core's attributes and occupancy of kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "runtime/core/launches.h"

namespace kernkit::simulator::core {

/// Returns whether an address is the handle of a kernel.
bool kernel_exists(const void* kernel);
cudaError_t set_kernel_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t read_kernel_attributes(cudaFuncAttributes* attributes, const void* kernel);
/// Stores the kernel's mangled name, which lives until the process ends.
cudaError_t read_kernel_name(const char** name, const void* kernel);
/// Stores the offset and the size of a kernel's parameter [bytes].
cudaError_t read_kernel_parameter(const void* kernel, size_t index, size_t* offset, size_t* size);
cudaError_t read_blocks_per_sm(int* blocks, const void* kernel, int threads, size_t shared_memory);
cudaError_t read_available_shared_memory(size_t* shared_memory, const void* kernel, int blocks,
                                         int threads);
/// Stores the number of clusters of the request's size that are resident at the same time. The
/// blocks of a cluster are assumed to run on any multiprocessors. The request's grid is ignored.
cudaError_t read_active_clusters(int* clusters, const void* kernel, const LaunchRequest& request);
/// Stores the maximum number of blocks in a cluster.
cudaError_t read_largest_cluster(int* blocks, const void* kernel, const LaunchRequest& request);

}  // namespace kernkit::simulator::core
