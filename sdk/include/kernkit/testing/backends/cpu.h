// SPDX-License-Identifier: Apache-2.0
// Cpu: the backend of an op's tests on the CPU.
#pragma once

#include <string>

#include "kernkit/testing/tensor.h"
#include "kernkit/types/device.h"

namespace kernkit::testing {

class Cpu {
 public:
  static constexpr DLDevice kDevice{kDLCPU, 0};
  static const TestMemory& memory() { return kHostMemory; }
  std::string faults() { return ""; }
};

}  // namespace kernkit::testing
