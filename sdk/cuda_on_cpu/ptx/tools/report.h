// SPDX-License-Identifier: Apache-2.0
// Report: what the tools found in a process, as the JSON that `kernkit counters` and `kernkit
// sanitize` read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernkit/cuda_on_cpu/counters.h"

namespace kernkit::cuda_on_cpu::ptx {

/// Something that a kernel did wrong.
struct Finding {
  std::string tool;      // "memcheck"
  std::string kernel;    // as C++ writes it
  std::string sentence;  // the first time that it was seen
  uint64_t count = 1;
};

std::string json_of(const std::vector<KernelCounters>& kernels,
                    const std::vector<Finding>& findings);

}  // namespace kernkit::cuda_on_cpu::ptx
