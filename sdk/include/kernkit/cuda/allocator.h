// SPDX-License-Identifier: Apache-2.0
// CUDANDAlloc and CUDAHostNDAlloc: GPU and pinned host memory for Tensor::FromNDAlloc().
#pragma once

#include "kernkit/cuda/device_guard.h"
#include "kernkit/memory/data_size.h"

namespace kernkit {

namespace detail {

// Throws MemoryError if `error` is cudaErrorMemoryAllocation, and RuntimeError for any other error
// of CUDA. Returns for cudaSuccess.
inline void check_cuda_alloc(cudaError_t error, const char* call, size_t size, DLDevice device) {
  if (__builtin_expect(error == cudaErrorMemoryAllocation, 0)) {
    (void)cudaGetLastError();
    KERNKIT_THROW(MemoryError) << call << " cannot allocate " << size << " bytes on " << device;
  }
  cuda::check(error, call, KERNKIT_HERE);
}

}  // namespace detail

/// Allocates memory on the tensor's GPU for Tensor::FromNDAlloc(), whichever device is current.
/// cudaMalloc and cudaFree wait for the device and fail during stream capture: in an op, use
/// alloc_tensor() instead. Objects have no state; any thread may use them.
struct CUDANDAlloc {
  /// Sets `data` to uninitialised memory of the tensor's size, GetDataSize(), at a multiple of 256
  /// bytes (CUDA C++ Programming Guide, Device Memory Accesses), which FreeData() frees; an empty
  /// tensor keeps its null `data`. Leaves the current device unchanged. Throws ValueError if the
  /// device is not a CUDA device or the size exceeds 2^63 - 1 bytes, MemoryError if the device has
  /// no memory left, RuntimeError for other errors of CUDA.
  void AllocData(DLTensor* tensor) const {
    KERNKIT_CHECK(is_cuda(tensor->device), ValueError)
        << "CUDANDAlloc: device " << tensor->device << " is not a CUDA device";
    const size_t size = GetDataSize(*tensor);
    if (size == 0) return;
    const CUDADeviceGuard guard(tensor->device.device_id);
    detail::check_cuda_alloc(cudaMalloc(&tensor->data, size), "cudaMalloc", size, tensor->device);
  }
  /// Frees the memory of AllocData() and leaves the current device unchanged. Ignores null `data`,
  /// and errors of CUDA. Throws nothing.
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

/// Allocates pinned host memory for Tensor::FromNDAlloc(), from and to which any GPU can copy
/// asynchronously (cudaHostAllocPortable). The tensor's device is {kDLCUDAHost, 0} or the CPU, as
/// the caller requests. Objects have no state; any thread may use them.
struct CUDAHostNDAlloc {
  /// Sets `data` to uninitialised pinned memory of the tensor's size, GetDataSize(), which
  /// FreeData() frees; an empty tensor keeps its null `data`. Throws ValueError if the device is
  /// neither pinned host memory nor the CPU or the size exceeds 2^63 - 1 bytes, MemoryError if no
  /// memory can be pinned, RuntimeError for other errors of CUDA.
  void AllocData(DLTensor* tensor) const {
    const bool fits = is_cpu(tensor->device) || tensor->device.device_type == kDLCUDAHost;
    KERNKIT_CHECK(fits, ValueError) << "CUDAHostNDAlloc: device " << tensor->device
                                    << " is not supported; expected cpu or cuda_host";
    const size_t size = GetDataSize(*tensor);
    if (size == 0) return;
    const cudaError_t error = cudaHostAlloc(&tensor->data, size, cudaHostAllocPortable);
    detail::check_cuda_alloc(error, "cudaHostAlloc", size, tensor->device);
  }
  /// Frees the memory of AllocData(). Ignores null `data`, and errors of CUDA. Throws nothing.
  void FreeData(DLTensor* tensor) const noexcept {
    if (tensor->data != nullptr) (void)cuda::succeeded(cudaFreeHost(tensor->data));
  }
};

}  // namespace kernkit
