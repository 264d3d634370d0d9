// SPDX-License-Identifier: Apache-2.0
// Replaces the header of the same name on a GPU: a host for a test program. Tensors that an op
// allocates are in managed memory, which the test reads after the device has finished.
#pragma once

#include <cuda_runtime_api.h>

#include "kernkit/cpu/allocator.h"
#include "kernkit/cuda/check.h"
#include "kernkit/env.h"
#include "kernkit/host/runtime.h"
#include "kernkit/memory/nd_alloc.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

/// Managed memory: migrates to the device when a kernel accesses it, and back when the host does.
inline constexpr TestMemory kManagedMemory{
    [](size_t bytes) {
      void* memory = nullptr;
      KERNKIT_CUDA_CHECK(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
      return memory;
    },
    [](void* memory) { (void)cuda::succeeded(cudaFree(memory)); }};

struct DeviceAlloc {
  void AllocData(DLTensor* tensor) const {
    if (!is_cuda(tensor->device)) return CPUNDAlloc().AllocData(tensor);
    tensor->data = kManagedMemory.allocate(GetDataSize(*tensor));
  }
  void FreeData(DLTensor* tensor) const noexcept {
    if (!is_cuda(tensor->device)) return CPUNDAlloc().FreeData(tensor);
    kManagedMemory.release(tensor->data);
  }
};

/// The allocator of the thread that runs the tests, set at the start of the program.
inline const AllocatorGuard kAllocatorOfTests(kernkit::detail::allocate_with<DeviceAlloc>);

}  // namespace kernkit::testing
