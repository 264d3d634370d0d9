// SPDX-License-Identifier: Apache-2.0
// Replaces the header of the same name on a GPU: TestDevice is the first GPU, and TestTensors are
// in managed memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/host.h"

namespace kernkit::testing {

class TestDevice {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};
  /// Waits for launched work, then returns CUDA's error, or "".
  std::string faults() {
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) return "";
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error) + "\n";
  }
};

/// The elements may be read after TestDevice::faults() has returned.
template <class T>
struct TestTensor : HostTensor<T> {
  explicit TestTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T())
      : HostTensor<T>(std::move(shape), placement, fill, kManagedMemory) {
    this->dl()->device = TestDevice::kDevice;
  }
};

}  // namespace kernkit::testing
