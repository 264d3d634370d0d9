// SPDX-License-Identifier: Apache-2.0
// Report: the results of the tools in a process, as the JSON that `kernkit counters` and `kernkit
// sanitize` read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernkit/simulator/counters.h"
#include "kernkit/simulator/racecheck.h"

namespace kernkit::simulator::ptx {

/// A defect found by a tool.
struct Finding {
  std::string tool;      // tool that found the defect: "memcheck"
  std::string kernel;    // C++ name of the kernel
  std::string sentence;  // description of the first occurrence
  uint64_t count = 1;
  RaceLevel level = RaceLevel::kError;
  std::string pair{};  // kernel and both lines; "" for a finding without two accesses
};

/// The state of a process at the time of the report.
struct ProcessState {
  bool ended = false;        // false if the process was killed or called _exit()
  bool synchronised = true;  // false if the host never waited for some kernels
  uint64_t not_run = 0;      // number of launches that returned the error of a stopped kernel
  std::vector<std::string> stopped;  // descriptions of the faults that stopped kernels
};

std::string json_of(const std::vector<KernelCounters>& kernels,
                    const std::vector<Finding>& findings, const ProcessState& process);

}  // namespace kernkit::simulator::ptx
