// SPDX-License-Identifier: Apache-2.0
// DeviceOnCpu: the TestDevice of a test of CUDA kernels on the CPU, whichever way they run there.
#pragma once

#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "kernkit/types/device.h"

namespace kernkit::testing {

/// One device of CUDA on the CPU; blocks and threads run in any order.
/// Of a grid of more than 65,536 blocks 144 run, the first and the last among them, and a large
/// allocation exists only where it is touched: see CudaRuntime::sample_blocks().
class DeviceOnCpu {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};

  DeviceOnCpu() {
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
  static std::vector<simulator::CudaDevice> devices() {
    simulator::CudaDevice device;
    device.memory = size_t{1} << 36;
    return {device};
  }

  simulator::CudaRuntime runtime_{devices()};
};

}  // namespace kernkit::testing
