// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a launch.
#pragma once

#include <string>

#include "ptx/machine/block.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

struct PtxResult {
  std::string sentence;  // "" or what the kernel did wrong
  cudaError_t error = cudaSuccess;
  const char* tool = "";  // see Fault
};

/// `all_at_once`: a cooperative launch, in which blocks wait for each other.
PtxResult run_grid(const Launch& launch, bool all_at_once, const Settings& settings);
/// On how many OS threads.
unsigned processors_of_last_grid();

}  // namespace kernkit::simulator::ptx
