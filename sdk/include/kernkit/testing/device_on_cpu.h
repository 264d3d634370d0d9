// SPDX-License-Identifier: Apache-2.0
// DeviceOnCpu: the TestDevice of tests that run CUDA kernels on the CPU, by either executor.
#pragma once

#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "kernkit/types/device.h"

namespace kernkit::testing {

/// One device of CUDA on the CPU; blocks and threads run in any order. In a grid of more than
/// 65,536 blocks, 144 blocks run, including the first and the last. A large allocation takes memory
/// only where it is used: see CudaRuntime::sample_blocks().
class DeviceOnCpu {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};

  DeviceOnCpu() {
    runtime_.run_kernels(true);
    runtime_.set_seed(1, true);
    runtime_.sample_blocks(1 << 16, 144);
  }
  /// Waits for launched work, then returns the faults of kernels, or "".
  std::string faults() {
    (void)cudaDeviceSynchronize();
    std::string text;
    for (const std::string& fault : runtime_.faults()) text += fault + "\n";
    return text;
  }

 private:
  static std::vector<simulator::CudaDevice> devices() {
    simulator::CudaDevice device;
    device.memory = size_t{1} << 36;
    return {device};
  }

  simulator::CudaRuntime runtime_{devices()};
};

}  // namespace kernkit::testing
