// SPDX-License-Identifier: Apache-2.0
// Managed memory, which kernels and the host read and write.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/cuda/check.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

/// Memory of cudaMallocManaged(). An allocation has at least one byte, because cudaMallocManaged()
/// rejects a size of 0. allocate() throws RuntimeError if CUDA fails; release() never throws.
inline constexpr TestMemory kManagedMemory{
    [](size_t bytes) {
      void* memory = nullptr;
      KERNKIT_CUDA_CHECK(cudaMallocManaged(&memory, bytes != 0 ? bytes : 1));
      return memory;
    },
    [](void* memory) { (void)cuda::succeeded(cudaFree(memory)); }};

}  // namespace kernkit::testing
