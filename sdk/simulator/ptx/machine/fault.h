// SPDX-License-Identifier: Apache-2.0
// Fault: an error of a kernel, which ends the kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Kernel;

struct Fault {
  std::string sentence;
  cudaError_t error;
  const char* tool = "synccheck";  // reporting tool: "synccheck", "memcheck" or "program"
  int lane = -1;                   // lane of an invalid access; -1 for another fault
};

/// Throws a Fault "scale: block [0, 0, 0], thread [7, 0, 0]: <sentence> (scale.cu:12)".
[[noreturn]] void fault(const Warp& warp, int lane, const Operation& operation,
                        const std::string& sentence, cudaError_t error = cudaErrorLaunchFailure);
/// Returns the index of a thread in its block: "[7, 0, 0]".
std::string thread_text(const Block& block, unsigned thread);
/// Returns the start of a report: "scale: block [0, 0, 0], thread [7, 0, 0]: ".
std::string location_text(const Block& block, unsigned thread);
/// Returns the CUDA function that compiles to an operation, such as "__syncthreads()"; the PTX
/// instruction if there is no such function.
std::string function_text(const Kernel& kernel, const Operation& operation);
/// Returns the source line of an operation: " (scale.cu:12)"; "" without a .loc.
std::string line_text(const Block& block, const Operation& operation);

}  // namespace kernkit::simulator::ptx
