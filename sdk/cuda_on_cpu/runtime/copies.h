// SPDX-License-Identifier: Apache-2.0
// Copies, of memory and of variables.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::cuda_on_cpu {

/// On the default stream; returns when it is done.
cudaError_t copy_and_wait(void* to, const void* from, size_t size);
cudaError_t copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream);

}  // namespace kernkit::cuda_on_cpu
