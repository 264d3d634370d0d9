// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a launch.
#pragma once

#include <string>

#include "ptx/machine/block.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

struct PtxResult {
  std::string sentence;  // description of the fault; "" without a fault
  cudaError_t error = cudaSuccess;
  const char* tool = "";  // tool that reports the fault, see Fault
};

/// Runs all blocks of a launch. `all_at_once`: the launch is cooperative, so its blocks may wait
/// for each other.
PtxResult run_grid(const Launch& launch, bool all_at_once, const Settings& settings);
/// Returns the number of OS threads that ran the last grid.
unsigned processors_of_last_grid();

}  // namespace kernkit::simulator::ptx
