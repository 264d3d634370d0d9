// SPDX-License-Identifier: Apache-2.0
// Memory of this process in tensors that claim to be on a device. Kernels that nvcc compiled can
// access only CUDA's memory, so their tensors are in managed memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernkit/testing/tensor.h"

namespace kernkit::simulator {

#if defined(KERNELS_FROM_NVCC)

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<int64_t>& shape) : shape_(shape) {
    for (const int64_t size : shape_) size_ *= size;
    void* memory = nullptr;
    cudaMallocManaged(&memory, static_cast<size_t>(size_) * sizeof(T));
    memory_ = static_cast<T*>(memory);
    std::fill(begin(), end(), T());
    dl_.data = memory_;
    dl_.device = {kDLCUDA, 0};
    dl_.ndim = static_cast<int32_t>(shape_.size());
    dl_.dtype = dtype_of<T>;
    dl_.shape = shape_.data();
  }
  ~OnDevice() { cudaFree(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* begin() { return memory_; }
  T* end() { return memory_ + size_; }
  T& operator[](int64_t i) { return memory_[i]; }
  int64_t size() const { return size_; }
  TensorView view(const char* name) const { return TensorView(&dl_, name); }
  /// Returns true, because kernels cannot access the memory around the tensor.
  bool intact() const { return true; }

 private:
  std::vector<int64_t> shape_;
  int64_t size_ = 1;
  T* memory_ = nullptr;
  DLTensor dl_{};
};

#else

template <class T>
struct OnDevice : testing::HostTensor<T> {
  explicit OnDevice(std::vector<int64_t> shape) : testing::HostTensor<T>(std::move(shape)) {
    this->dl()->device = {kDLCUDA, 0};
  }
};

#endif

}  // namespace kernkit::simulator
