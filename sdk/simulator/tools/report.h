// SPDX-License-Identifier: Apache-2.0
// Report: what the tools found in a process, as the JSON that `kernkit counters` and `kernkit
// sanitize` read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernkit/simulator/counters.h"

namespace kernkit::simulator::ptx {

/// Something that a kernel did wrong.
struct Finding {
  std::string tool;      // "memcheck"
  std::string kernel;    // as C++ writes it
  std::string sentence;  // the first time that it was seen
  uint64_t count = 1;
};

/// How far a process came.
struct ProcessState {
  bool ended = false;                // else it was ended from outside, or ended by _exit()
  bool synchronised = true;          // else the host never waited for some kernels
  uint64_t not_run = 0;              // launches that returned the error of a stopped kernel
  std::vector<std::string> stopped;  // what stopped kernels
};

std::string json_of(const std::vector<KernelCounters>& kernels,
                    const std::vector<Finding>& findings, const ProcessState& process);

}  // namespace kernkit::simulator::ptx
