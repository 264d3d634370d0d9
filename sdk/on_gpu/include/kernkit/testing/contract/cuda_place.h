// SPDX-License-Identifier: Apache-2.0
// On a GPU, in the place of the header of this name: CudaPlace is the first one.
#pragma once

#include "kernkit/testing/contract/device_place.h"

namespace kernkit::testing::contract {

class CudaPlace : public DevicePlace {
 public:
  CudaPlace() : DevicePlace(0) {}
  std::string fault() override {
    const cudaError_t error = cudaPeekAtLastError();
    return error == cudaSuccess ? "" : std::string("CUDA says ") + cudaGetErrorString(error);
  }
};

}  // namespace kernkit::testing::contract
