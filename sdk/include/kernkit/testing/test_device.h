// SPDX-License-Identifier: Apache-2.0
// TestDevice, TestTensor: the device and the tensors of an op's test. One file tests the CPU and,
// built by kernkit_add_cuda_tests(), the CUDA kernels on the CPU.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/host.h"  // for ops that allocate tensors; its stream is the default stream
#include "kernkit/testing/tensor.h"

#if defined(KERNKIT_ON_FIBERS)
#include "kernkit/testing/device_on_cpu.h"
#endif

namespace kernkit::testing {

#if defined(KERNKIT_ON_FIBERS)
using TestDevice = DeviceOnCpu;
#else
/// The CPU.
class TestDevice {
 public:
  static constexpr DLDevice kDevice{kDLCPU, 0};
  std::string faults() { return ""; }
};
#endif

/// A HostTensor on the test's device. Its elements may be read after TestDevice::faults() has
/// returned.
template <class T>
struct TestTensor : HostTensor<T> {
  explicit TestTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T())
      : HostTensor<T>(std::move(shape), placement, fill) {
    this->dl()->device = TestDevice::kDevice;
  }
};

}  // namespace kernkit::testing
