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

/// A contiguous tensor of elements T that owns its memory on a CUDA device. The elements are
/// uninitialised. Throws RuntimeError if CUDA fails.
template <class T>
class CudaTensor {
 public:
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
  ~CudaTensor() { (void)cuda::succeeded(cudaFree(dl_.data)); }

  /// Copies all elements from or to host memory, after all work of the device.
  void upload(const T* from) {
    synchronize();
    KERNKIT_CUDA_CHECK(cudaMemcpy(dl_.data, from, bytes_, cudaMemcpyHostToDevice));
  }
  void download(T* to) const {
    synchronize();
    KERNKIT_CUDA_CHECK(cudaMemcpy(to, dl_.data, bytes_, cudaMemcpyDeviceToHost));
  }

  /// The DLTensor. A test may change it to an invalid tensor.
  DLTensor* dl() { return &dl_; }
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
