// SPDX-License-Identifier: Apache-2.0
// Memory of this process that says it is a device's.
#pragma once

#include <utility>
#include <vector>

#include "kernkit/testing/tensor.h"

namespace kernkit::cuda_on_cpu {

template <class T>
struct OnDevice : testing::HostTensor<T> {
  explicit OnDevice(std::vector<int64_t> shape) : testing::HostTensor<T>(std::move(shape)) {
    this->dl()->device = {kDLCUDA, 0};
  }
};

}  // namespace kernkit::cuda_on_cpu
