// SPDX-License-Identifier: Apache-2.0
// Cpu: the backend of an op's tests on the CPU.
#pragma once

#include <string>

#include "kernkit/testing/tensor.h"
#include "kernkit/types/device.h"

namespace kernkit::testing {

/// The backend of an op's tests on the CPU.
class Cpu {
 public:
  static constexpr DLDevice kDevice{kDLCPU, 0};  ///< device of tensors: cpu
  /// Returns the allocator of tensors' memory, kHostMemory, valid for the whole program. Throws
  /// nothing.
  static const TestMemory& memory() { return kHostMemory; }
  /// Returns "" without waiting: work on the CPU has ended when the op returns, and a fault of the
  /// op, such as an access out of bounds, ends the process. Throws nothing.
  std::string faults() { return ""; }
};

}  // namespace kernkit::testing
