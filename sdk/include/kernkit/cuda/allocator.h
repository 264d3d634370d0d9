// SPDX-License-Identifier: Apache-2.0
// CUDANDAlloc and CUDAHostNDAlloc: GPU and pinned host memory for Tensor::FromNDAlloc().
#pragma once

#include "kernkit/cuda/device_guard.h"
#include "kernkit/memory/data_size.h"

namespace kernkit {

namespace detail {

// A failed request for memory is a MemoryError, anything else is a RuntimeError.
inline void check_cuda_alloc(cudaError_t error, const char* call, size_t size, DLDevice device) {
  if (__builtin_expect(error == cudaErrorMemoryAllocation, 0)) {
    (void)cudaGetLastError();
    KERNKIT_THROW(MemoryError) << call << " cannot allocate " << size << " bytes on " << device;
  }
  cuda::check(error, call, KERNKIT_HERE);
}

}  // namespace detail

/// Memory of the tensor's own GPU, independent of the current device. cudaMalloc and cudaFree wait
/// for the device and fail during stream capture: a kernel allocates with alloc_tensor() instead.
struct CUDANDAlloc {
  /// ValueError if the device is not a GPU, MemoryError if the device has no memory left,
  /// RuntimeError for other errors of CUDA. An empty tensor gets no data.
  void AllocData(DLTensor* tensor) const {
    KERNKIT_CHECK(is_cuda(tensor->device), ValueError)
        << "CUDANDAlloc: device " << tensor->device << " is not a CUDA device";
    const size_t size = GetDataSize(*tensor);
    if (size == 0) return;
    const CUDADeviceGuard guard(tensor->device.device_id);
    detail::check_cuda_alloc(cudaMalloc(&tensor->data, size), "cudaMalloc", size, tensor->device);
  }
  /// Never throws. Leaves the current device unchanged.
  void FreeData(DLTensor* tensor) const noexcept {
    if (tensor->data == nullptr) return;
    const int device = tensor->device.device_id;
    int previous = device;
    (void)cuda::succeeded(cudaGetDevice(&previous));
    if (previous != device) (void)cuda::succeeded(cudaSetDevice(device));
    (void)cuda::succeeded(cudaFree(tensor->data));
    if (previous != device) (void)cuda::succeeded(cudaSetDevice(previous));
  }
};

/// Pinned host memory, which copies to and from any GPU asynchronously. The tensor's device is
/// {kDLCUDAHost, 0}, or the CPU on request.
struct CUDAHostNDAlloc {
  /// Throws the errors of CUDANDAlloc.
  void AllocData(DLTensor* tensor) const {
    const bool fits = is_cpu(tensor->device) || tensor->device.device_type == kDLCUDAHost;
    KERNKIT_CHECK(fits, ValueError)
        << "CUDAHostNDAlloc: device " << tensor->device << " is not host memory";
    const size_t size = GetDataSize(*tensor);
    if (size == 0) return;
    const cudaError_t error = cudaHostAlloc(&tensor->data, size, cudaHostAllocPortable);
    detail::check_cuda_alloc(error, "cudaHostAlloc", size, tensor->device);
  }
  /// Never throws.
  void FreeData(DLTensor* tensor) const noexcept {
    if (tensor->data != nullptr) (void)cuda::succeeded(cudaFreeHost(tensor->data));
  }
};

}  // namespace kernkit
