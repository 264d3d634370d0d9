// SPDX-License-Identifier: Apache-2.0
// Basis of the GPU tests: devices, streams that wait, tensors in device memory. Uses only the CUDA
// runtime, so that every implementation of the runtime can run the tests.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernkit/cuda/check.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/env.h"
#include "kernkit/host/runtime.h"
#include "kernkit/tensor.h"
#include "kernkit/testing/hold.h"
#include "kernkit/testing/reference.h"

// Functions of kernkit/simulator/runtime.h, which are null unless the simulator is linked.
extern "C" {
[[gnu::weak]] void kernkit_close_to_kernels(const void* memory, size_t size, cudaStream_t stream);
[[gnu::weak]] void kernkit_open_to_kernels(const void* memory, cudaStream_t stream);
}

namespace kernkit::gpu {

inline int device_count() {
  int count = 0;
  return cuda::succeeded(cudaGetDeviceCount(&count)) ? count : 0;
}

/// Skips the test with the runtime's message if there is no device. The test starts and ends on
/// device 0.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      const cudaError_t problem = error != cudaSuccess ? error : cudaErrorNoDevice;
      (void)cudaGetLastError();
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorName(problem) << ": "
                   << cudaGetErrorString(problem);
    }
    KERNKIT_CUDA_CHECK(cudaSetDevice(0));
  }
  void TearDown() override {
    if (device_count() == 0) return;
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0) << "the test did not restore the current device";
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "the test caused an asynchronous error";
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the test left a pending error";
  }
};

/// A stream that does not synchronise with the default stream.
class Stream {
 public:
  explicit Stream(int device = 0) : device_(device) {
    CUDADeviceGuard guard(device);
    KERNKIT_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Stream() {
    (void)cuda::succeeded(cudaStreamSynchronize(stream_));
    (void)cuda::succeeded(cudaStreamDestroy(stream_));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  DLDevice device() const { return {kDLCUDA, device_}; }
  void synchronize() const { KERNKIT_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

using testing::Hold;

/// A vector of T in device memory, at the position set by place(). The memory around the vector
/// holds a pattern; if AddressSanitizer checks device memory, kernels may not access this memory.
/// Copies are enqueued on a stream; a copy to the host waits for the stream.
template <class T>
class DeviceTensor {
 public:
  DeviceTensor(int device, int64_t most, int64_t most_first = 0)
      : bytes_(2 * kGuard + static_cast<size_t>(most + most_first) * sizeof(T)) {
    CUDADeviceGuard guard(device);
    KERNKIT_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&memory_), bytes_));
    dl_.device = {kDLCUDA, device};
    dl_.dtype = dtype_of<T>;
    dl_.ndim = 1;
    dl_.shape = &n_;
  }
  ~DeviceTensor() { (void)cuda::succeeded(cudaFree(memory_)); }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  /// Places n elements, of which the first is `first` elements after a 256-byte boundary.
  /// Overwrites the whole memory with the pattern.
  void place(int64_t first, int64_t n, const Stream& stream) {
    const CUDADeviceGuard guard(dl_.device.device_id);
    n_ = n;
    dl_.data = memory_ + kGuard + static_cast<size_t>(first) * sizeof(T);
    KERNKIT_CUDA_CHECK(cudaMemsetAsync(memory_, kPattern, bytes_, stream.get()));
    close_around(stream);
  }
  void upload(const T* values, const Stream& stream) {
    const CUDADeviceGuard guard(dl_.device.device_id);
    KERNKIT_CUDA_CHECK(cudaMemcpyAsync(dl_.data, values, static_cast<size_t>(n_) * sizeof(T),
                                       cudaMemcpyHostToDevice, stream.get()));
  }
  /// Returns "" if the elements have the bits of `expected` (any NaN matches a NaN) and no byte
  /// around the elements was written, otherwise the difference. With a null `expected`, returns ""
  /// if nothing was written.
  std::string wrong(const T* expected, const Stream& stream) const {
    const CUDADeviceGuard guard(dl_.device.device_id);
    std::vector<unsigned char> bytes(bytes_);
    KERNKIT_CUDA_CHECK(
        cudaMemcpyAsync(bytes.data(), memory_, bytes_, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    const auto begin = static_cast<size_t>(static_cast<unsigned char*>(dl_.data) - memory_);
    const size_t end = begin + (expected != nullptr ? static_cast<size_t>(n_) * sizeof(T) : 0);
    for (size_t i = 0; i < bytes_; ++i) {
      if ((i < begin || i >= end) && bytes[i] != kPattern) {
        return "byte " + std::to_string(static_cast<int64_t>(i) - static_cast<int64_t>(begin)) +
               " from the first element was written";
      }
    }
    const int64_t i = testing::first_difference(
        expected != nullptr ? n_ : 0,
        [&](int64_t k) {
          T value;
          std::memcpy(&value, &bytes[begin + static_cast<size_t>(k) * sizeof(T)], sizeof(T));
          return value;
        },
        [&](int64_t k) { return expected[k]; });
    return i < 0 ? "" : "element " + std::to_string(i) + " of " + std::to_string(n_);
  }

  DLTensor* dl() { return &dl_; }
  TensorView view(const char* name) const { return {&dl_, name}; }

 private:
  static constexpr size_t kGuard = 256;
  static constexpr unsigned char kPattern = 0xa5;

  // Makes at most 64 KiB on each side of the elements inaccessible to kernels. The size is limited,
  // because more inaccessible memory makes each kernel slower.
  void close_around(const Stream& stream) const {
    if (kernkit_close_to_kernels == nullptr) return;  // NVIDIA's runtime
    constexpr ptrdiff_t kMost = 1 << 16;
    const auto* first = static_cast<const unsigned char*>(dl_.data);
    const unsigned char* last = first + static_cast<size_t>(n_) * sizeof(T);
    const ptrdiff_t before = std::min(first - memory_, kMost);
    const ptrdiff_t after = std::min(memory_ + bytes_ - last, kMost);
    kernkit_open_to_kernels(memory_, stream.get());
    kernkit_close_to_kernels(first - before, static_cast<size_t>(before), stream.get());
    kernkit_close_to_kernels(last, static_cast<size_t>(after), stream.get());
  }

  size_t bytes_;
  unsigned char* memory_ = nullptr;
  int64_t n_ = 0;
  DLTensor dl_{};
};

/// Returns n elements of random bits, which depend on the seed only.
template <class T>
std::vector<T> random_bits(int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) {
    const uint64_t bits = random();
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  }
  return values;
}

}  // namespace kernkit::gpu
