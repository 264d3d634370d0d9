// SPDX-License-Identifier: Apache-2.0
// TestDevice, TestTensor: what an op's test runs on, so that one file tests the CPU and, built by
// kernkit_add_cuda_tests(), the CUDA kernels on the CPU.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/host.h"  // for ops that make tensors; its stream is the default one
#include "kernkit/testing/tensor.h"

#if defined(KERNKIT_CUDA_ON_CPU)
#include "kernkit/cuda_on_cpu/runtime.h"
#endif

namespace kernkit::testing {

#if defined(KERNKIT_CUDA_ON_CPU)

/// One device of CUDA on the CPU; blocks and threads run in any order.
/// Of a grid of more than 65,536 blocks 144 run, the first and the last among them, and a large
/// allocation exists only where it is touched: see CudaRuntime::sample_blocks().
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

#else

/// The CPU.
class TestDevice {
 public:
  static constexpr DLDevice kDevice{kDLCPU, 0};
  std::string faults() { return ""; }
};

#endif

/// A HostTensor on the test's device. Its elements may be read when TestDevice::faults() has
/// returned.
template <class T>
struct TestTensor : HostTensor<T> {
  explicit TestTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T())
      : HostTensor<T>(std::move(shape), placement, fill) {
    this->dl()->device = TestDevice::kDevice;
  }
};

}  // namespace kernkit::testing
