// SPDX-License-Identifier: Apache-2.0
// A host for a test program, in place of a framework: ops that allocate tensors (alloc_tensor) or
// return objects need a host. Include this header in the test and link kernkit::host.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/env.h"
#include "kernkit/host/runtime.h"
#include "kernkit/memory/nd_alloc.h"
#if defined(KERNKIT_WITH_CUDA)
#include "kernkit/cuda/allocator.h"
#endif

namespace kernkit::testing {

/// Allocates on the tensor's device: the CPU or, in a build with CUDA, a GPU or CUDA on the CPU.
/// ValueError for any other device.
struct DeviceAlloc {
  void AllocData(DLTensor* tensor) const {
#if defined(KERNKIT_WITH_CUDA)
    if (is_cuda(tensor->device)) return CUDANDAlloc().AllocData(tensor);
#endif
    CPUNDAlloc().AllocData(tensor);
  }
  void FreeData(DLTensor* tensor) const noexcept {
#if defined(KERNKIT_WITH_CUDA)
    if (is_cuda(tensor->device)) return CUDANDAlloc().FreeData(tensor);
#endif
    CPUNDAlloc().FreeData(tensor);
  }
};

/// The allocator of the thread that runs the tests, set at the start of the program.
inline const AllocatorGuard kAllocatorOfTests(kernkit::detail::allocate_with<DeviceAlloc>);

}  // namespace kernkit::testing
