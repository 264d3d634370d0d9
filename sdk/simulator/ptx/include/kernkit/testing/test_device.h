// SPDX-License-Identifier: Apache-2.0
// Of an op that runs by its PTX, in the place of the header of this name: TestTensors are in
// managed memory, because what nvcc compiled may touch CUDA's memory alone.
#pragma once

#include <utility>
#include <vector>

#include "kernkit/cuda/check.h"
#include "kernkit/testing/device_on_cpu.h"
#include "kernkit/testing/host.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

using TestDevice = DeviceOnCpu;

inline constexpr TestMemory kManagedMemory{
    [](size_t bytes) {
      void* memory = nullptr;
      KERNKIT_CUDA_CHECK(cudaMallocManaged(&memory, bytes));
      return memory;
    },
    [](void* memory) { (void)cuda::succeeded(cudaFree(memory)); }};

/// Its elements may be read when TestDevice::faults() has returned.
template <class T>
struct TestTensor : HostTensor<T> {
  explicit TestTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T())
      : HostTensor<T>(std::move(shape), placement, fill, kManagedMemory) {
    this->dl()->device = TestDevice::kDevice;
  }
};

}  // namespace kernkit::testing
