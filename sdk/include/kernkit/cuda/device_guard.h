// SPDX-License-Identifier: Apache-2.0
// CUDADeviceGuard: sets the current device for a scope.
#pragma once

#include "kernkit/cuda/check.h"

namespace kernkit {

/// Makes a device current for this thread and, at the end of the scope, restores the previous
/// device. Sets the device only if it differs from the current device.
class CUDADeviceGuard {
 public:
  /// Makes `device` current for this thread. Throws RuntimeError if the device does not exist or
  /// CUDA reports another error; the current device is then unchanged.
  explicit CUDADeviceGuard(int device) : device_(device) {
    KERNKIT_CUDA_CHECK(cudaGetDevice(&previous_));
    if (previous_ == device_) return;
    const cudaError_t error = cudaSetDevice(device_);
    if (__builtin_expect(error != cudaSuccess, 0)) throw_set_device(error);
  }
  /// Restores the device that was current before. Throws nothing, and ignores errors of CUDA.
  /// Destroy the guard in the thread that created the guard.
  ~CUDADeviceGuard() {
    // A destructor cannot report the error.
    if (previous_ != device_) (void)cuda::succeeded(cudaSetDevice(previous_));
  }
  CUDADeviceGuard(const CUDADeviceGuard&) = delete;
  CUDADeviceGuard& operator=(const CUDADeviceGuard&) = delete;

 private:
  [[noreturn, gnu::cold]] void throw_set_device(cudaError_t error) const {
    Message call;
    call << "cudaSetDevice(" << device_ << ")";
    cuda::throw_cuda_error(error, call.c_str(), KERNKIT_HERE);
  }

  int device_;
  int previous_ = 0;
};

}  // namespace kernkit
