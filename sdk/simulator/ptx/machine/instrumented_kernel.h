// SPDX-License-Identifier: Apache-2.0
// InstrumentedKernel: a kernel that calls hooks before and after each operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

/// A line of the source. Operations of one place have the same.
struct Line {
  std::string place, file;  // as LineCounters has them
  int line = 0;
};

struct InstrumentedKernel {
  InstrumentedKernel(const Kernel& original, const Module& module);

  Kernel kernel;
  std::vector<Line> lines;
  // One entry for each operation:
  std::vector<Run> runs;
  std::vector<uint32_t> line_of;              // a number of `lines`
  mutable std::shared_ptr<void> definedness;  // made by initcheck at its first launch
};

}  // namespace kernkit::simulator::ptx
