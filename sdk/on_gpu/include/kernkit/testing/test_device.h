// SPDX-License-Identifier: Apache-2.0
// On a GPU, in the place of the header of this name: TestDevice is the first GPU, and TestTensors
// are there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/host.h"

namespace kernkit::testing {

class TestDevice {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};
  /// Waits for what was launched; then what CUDA reports, "" when nothing.
  std::string faults() {
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) return "";
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error) + "\n";
  }
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
