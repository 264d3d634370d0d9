// SPDX-License-Identifier: Apache-2.0
// A host for a test program, in place of a framework: ops that allocate tensors (alloc_tensor) or
// return objects need a host. Include this header in the test and link kernkit::host.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/env.h"
#include "kernkit/host/runtime.h"
#include "kernkit/memory/nd_alloc.h"
#if defined(KERNKIT_ON_GPU)
#include "kernkit/testing/backends/gpu.h"
#elif defined(KERNKIT_WITH_CUDA)
#include "kernkit/cuda/allocator.h"
#endif

namespace kernkit::testing {

#if defined(KERNKIT_ON_GPU)
/// The allocator of CUDA tensors: managed memory of the backend on a GPU, CUDANDAlloc in the
/// simulator.
using CudaAlloc = Gpu::CudaAlloc;
#elif defined(KERNKIT_WITH_CUDA)
/// The allocator of CUDA tensors: managed memory of the backend on a GPU, CUDANDAlloc in the
/// simulator.
using CudaAlloc = CUDANDAlloc;
#else
/// The allocator of CUDA tensors in a build without CUDA: it rejects a CUDA device with a
/// ValueError.
using CudaAlloc = CPUNDAlloc;
#endif

/// Allocates memory on the tensor's device: the CPU or, in a build with CUDA, a GPU or a device of
/// the simulator. Objects have no state; any thread may use them.
struct DeviceAlloc {
  /// Sets `data`, which is null before the call, to uninitialised memory of the tensor's size,
  /// GetDataSize(), which FreeData() frees. `data` stays null for an empty tensor, except with
  /// Gpu::CudaAlloc, and without free CPU memory. Throws ValueError for any other device and for
  /// more than 2^63 - 1 bytes, and for a CUDA device the errors of CudaAlloc: MemoryError without
  /// device memory (RuntimeError with Gpu::CudaAlloc), RuntimeError for other errors of CUDA.
  void AllocData(DLTensor* tensor) const {
    is_cuda(tensor->device) ? CudaAlloc().AllocData(tensor) : CPUNDAlloc().AllocData(tensor);
  }
  /// Frees the memory of AllocData(), ignoring null `data` and errors of CUDA. Throws nothing.
  void FreeData(DLTensor* tensor) const noexcept {
    is_cuda(tensor->device) ? CudaAlloc().FreeData(tensor) : CPUNDAlloc().FreeData(tensor);
  }
};

/// Sets DeviceAlloc as the allocator of the thread that runs the static initialisers, which in a
/// test program is the thread of the tests.
inline const AllocatorGuard kAllocatorOfTests(kernkit::detail::allocate_with<DeviceAlloc>);

}  // namespace kernkit::testing
