// SPDX-License-Identifier: Apache-2.0
// CudaPlace: a device of CUDA on the CPU.
#pragma once

#include "kernkit/cuda_on_cpu/runtime.h"
#include "kernkit/testing/contract/device_place.h"

namespace kernkit::testing::contract {

/// The runtime of a CudaPlace: three devices, kernels that run, nothing recorded.
struct RuntimeOfPlace {
  explicit RuntimeOfPlace(unsigned seed) : runtime(std::vector<cuda_on_cpu::CudaDevice>(3)) {
    runtime.run_kernels(true);
    runtime.set_seed(seed);
  }
  cuda_on_cpu::CudaRuntime runtime;
};

/// As long as one lives the runtime is its own.
class CudaPlace : public RuntimeOfPlace, public DevicePlace {
 public:
  /// `seed` other than 0: work lags behind the host.
  explicit CudaPlace(int device = 0, unsigned seed = 0)
      : RuntimeOfPlace(seed), DevicePlace(device), live_(runtime.live()) {}

  void close(void* memory, size_t bytes) override {
    kernkit_close_to_kernels(memory, bytes, stream());
  }
  void open(void* memory, size_t) override {
    const CUDADeviceGuard guard(device().device_id);
    (void)cudaDeviceSynchronize();
    kernkit_open_to_kernels(memory, stream());
  }
  void reorder(unsigned seed) override { runtime.set_seed(seed); }
  /// Not where a fault or memory was left, either.
  bool renew() override {
    runtime.clear();
    return fault().empty() && runtime.live() == live_ && DevicePlace::renew();
  }
  std::string fault() override {
    const std::vector<std::string> faults = runtime.faults();
    return faults.empty() ? "" : faults[0];
  }

 private:
  std::string live_;
};

}  // namespace kernkit::testing::contract
