// SPDX-License-Identifier: Apache-2.0
// Fault: what a kernel did wrong. It ends the kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

struct Kernel;

struct Fault {
  std::string sentence;
  cudaError_t error;
  const char* tool = "synccheck";  // the tool that reports it: "synccheck", "memcheck" or "program"
};

/// "scale: block [0, 0, 0], thread [7, 0, 0]: " and what it did, and in which line.
[[noreturn]] void fault(const Warp& warp, int lane, const Operation& operation,
                        const std::string& what, cudaError_t error = cudaErrorLaunchFailure);
/// "[7, 0, 0]"
std::string thread_text(const Block& block, unsigned thread);
/// "scale: block [0, 0, 0], thread [7, 0, 0]: "
std::string place_text(const Block& block, unsigned thread);
/// "__syncthreads()", or the instruction where CUDA has no name for it.
std::string function_text(const Kernel& kernel, const Operation& operation);
/// " (scale.cu:12)"; "" without a .loc.
std::string line_text(const Block& block, const Operation& operation);

}  // namespace kernkit::simulator::ptx
