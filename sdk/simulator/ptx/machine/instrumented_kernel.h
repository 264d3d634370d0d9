// SPDX-License-Identifier: Apache-2.0
// InstrumentedKernel: a kernel that calls hooks before and after each operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/machine/kernel.h"

namespace kernkit::simulator::ptx {

/// A source line. All operations with the same source location refer to one Line.
struct Line {
  std::string place, file;  // members of LineCounters
  int line = 0;
};

struct InstrumentedKernel {
  InstrumentedKernel(const Kernel& original, const Module& module);

  /// Returns the source line of an operation: " (k.cu:5)"; "" if the line is unknown.
  std::string line_text(uint32_t operation) const;

  Kernel kernel;
  std::vector<Line> lines;
  // runs and line_of have one entry for each operation.
  std::vector<Run> runs;
  std::vector<uint32_t> line_of;              // index into `lines`
  mutable std::shared_ptr<void> definedness;  // initcheck's plans; null before their first use
};

}  // namespace kernkit::simulator::ptx
