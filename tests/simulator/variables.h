// SPDX-License-Identifier: Apache-2.0
// Device variables and kernels with attributes, compiled by nvcc.
#pragma once

#include <cuda_runtime_api.h>

namespace kernkit {

/// Host symbols of the variables: `weights` float [4] = {1, 2, 3, 4}, constant; `calls` int = 5;
/// `sums` double [3]; `everywhere` int = 7, managed; `where` int* = &calls.
struct Symbols {
  const void *weights, *calls, *sums, *everywhere, *where;
};
Symbols symbols();
/// Returns the host's variable `everywhere`.
int& host_view();
/// Launches a kernel: results[0] = weights[0] + 10 * weights[3]; [1] = calls, which is then
/// incremented; [2] = sums[1], and sums[2] is set to 2 * sums[1]; [3] = everywhere, which then
/// grows by 100.
cudaError_t launch_use_variables(double* results, cudaStream_t stream);
/// Launches a kernel that is compiled for at most 96 threads.
cudaError_t launch_use_little(double* results, int threads);

/// Returns a kernel with 768 bytes of shared memory, 512 of local memory and 16 of constants.
const void* kernel_that_uses_much();
const void* kernel_that_uses_little();

}  // namespace kernkit
