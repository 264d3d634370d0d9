// SPDX-License-Identifier: Apache-2.0
// TestDevice, TestTensor: the device and the tensors of an op's test. The same file tests an op on
// the CPU, in the simulator and on a GPU.
#pragma once

#include <utility>
#include <vector>

#include "kernkit/testing/backend.h"
#include "kernkit/testing/host.h"  // the host that allocates the tensors of ops
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

/// The backend of an op's test: its kDevice, memory() and faults().
using TestDevice = Backend;

/// A HostTensor in memory of the test's device. The host may read and write the elements; after a
/// call of an op, only once TestDevice::faults() has returned.
template <class T>
struct TestTensor : HostTensor<T> {
  /// Allocates a tensor of this shape [elements] from Backend::memory() and sets each element to
  /// `fill`. Requires that the sizes and `placement.first` are not negative. Throws std::bad_alloc
  /// if no CPU memory is left, RuntimeError if CUDA fails.
  explicit TestTensor(std::vector<int64_t> shape, Placement placement = {}, T fill = T())
      : HostTensor<T>(std::move(shape), placement, fill, Backend::memory()) {
    this->dl()->device = Backend::kDevice;
  }
};

}  // namespace kernkit::testing
