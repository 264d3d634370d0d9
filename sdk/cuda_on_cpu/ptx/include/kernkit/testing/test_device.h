// SPDX-License-Identifier: Apache-2.0
// Of an op that runs by its PTX, in the place of the header of this name: TestTensors are in
// managed memory, because what nvcc compiled may touch CUDA's memory alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/cuda/check.h"
#include "kernkit/cuda_on_cpu/runtime.h"
#include "kernkit/testing/host.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

inline constexpr TestMemory kManagedMemory{
    [](size_t bytes) {
      void* memory = nullptr;
      KERNKIT_CUDA_CHECK(cudaMallocManaged(&memory, bytes));
      return memory;
    },
    [](void* memory) { (void)cuda::succeeded(cudaFree(memory)); }};

/// One device of CUDA on the CPU; of a grid of more than 65,536 blocks 144 run.
class TestDevice {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};

  TestDevice() {
    runtime_.run_kernels(true);
    runtime_.set_seed(1, true);
    runtime_.sample_blocks(1 << 16, 144);
  }
  /// Waits for what was launched; then what kernels did wrong, "" when nothing.
  std::string faults() {
    (void)cudaDeviceSynchronize();
    std::string text;
    for (const std::string& fault : runtime_.faults()) text += fault + "\n";
    return text;
  }

 private:
  static std::vector<cuda_on_cpu::CudaDevice> devices() {
    cuda_on_cpu::CudaDevice device;
    device.memory = size_t{1} << 36;
    return {device};
  }

  cuda_on_cpu::CudaRuntime runtime_{devices()};
};

/// Its elements may be read when TestDevice::faults() has returned.
template <class T>
struct TestTensor : HostTensor<T> {
  explicit TestTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T())
      : HostTensor<T>(std::move(shape), placement, fill, kManagedMemory) {
    this->dl()->device = TestDevice::kDevice;
  }
};

}  // namespace kernkit::testing
