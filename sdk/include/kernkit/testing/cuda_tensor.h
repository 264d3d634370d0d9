// SPDX-License-Identifier: Apache-2.0
// CudaTensor: a tensor in device memory, for tests on a GPU and on the CPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kernkit/cuda/check.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/tensor.h"

namespace kernkit::testing {

/// A contiguous tensor of elements T that owns its memory on a CUDA device, in the simulator or on
/// a GPU. T must have a dtype and be trivially copyable. Use an object in one thread at a time.
template <class T>
class CudaTensor {
 public:
  /// Allocates a tensor of this shape [elements] on cuda:`device` by cudaMalloc(), with
  /// uninitialised elements and null strides (row-major); an empty tensor has null data, and an
  /// empty shape one element. Requires, without a check, that the sizes are not negative and that
  /// the elements take at most 2^63 - 1 bytes. Leaves the current device unchanged. Throws
  /// RuntimeError if the device does not exist, has no memory left, or CUDA reports another error,
  /// and std::bad_alloc.
  explicit CudaTensor(std::vector<int64_t> shape, int device = 0) : shape_(std::move(shape)) {
    int64_t size = 1;
    for (const int64_t extent : shape_) size *= extent;
    bytes_ = static_cast<size_t>(size) * sizeof(T);
    const CUDADeviceGuard guard(device);
    KERNKIT_CUDA_CHECK(cudaMalloc(&dl_.data, bytes_));
    dl_.device = {kDLCUDA, device};
    dl_.ndim = static_cast<int32_t>(shape_.size());
    dl_.dtype = dtype_of<T>;
    dl_.shape = shape_.data();
  }
  CudaTensor(const CudaTensor&) = delete;
  CudaTensor& operator=(const CudaTensor&) = delete;
  /// Frees the memory by cudaFree(), which waits for the device, ignoring errors of CUDA. Views
  /// must not be used afterwards. Throws nothing.
  ~CudaTensor() { (void)cuda::succeeded(cudaFree(dl_.data)); }

  /// Copies all elements from `from`, host memory with the same number of elements, in row-major
  /// order, after all work of the device, and waits for the copy. Throws RuntimeError if CUDA
  /// fails, also for an error of earlier work.
  void upload(const T* from) {
    synchronize();
    KERNKIT_CUDA_CHECK(cudaMemcpy(dl_.data, from, bytes_, cudaMemcpyHostToDevice));
  }
  /// Copies all elements to `to`, host memory for the same number of elements, in row-major order,
  /// after all work of the device, and waits for the copy. Throws the errors of upload().
  void download(T* to) const {
    synchronize();
    KERNKIT_CUDA_CHECK(cudaMemcpy(to, dl_.data, bytes_, cudaMemcpyDeviceToHost));
  }

  /// Returns the DLTensor, valid during the lifetime of the tensor. A test may change its members
  /// to make an invalid tensor, except `data` and `device`, which this class uses. Throws nothing.
  DLTensor* dl() { return &dl_; }
  /// Returns a view whose messages name the argument `name`, which must outlive the view. The view
  /// is valid during the lifetime of the tensor. Throws nothing.
  TensorView view(const char* name) const { return TensorView(&dl_, name); }

 private:
  void synchronize() const {
    const CUDADeviceGuard guard(dl_.device.device_id);
    KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
  }

  std::vector<int64_t> shape_;
  size_t bytes_ = 0;
  DLTensor dl_{};
};

}  // namespace kernkit::testing
