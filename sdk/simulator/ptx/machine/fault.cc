// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/fault.h"

#include "ptx/machine/block.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {
std::string thread_text(const Block& block, unsigned thread) {
  return index_text(index_of(thread, block.launch.block));
}

std::string location_text(const Block& block, unsigned thread) {
  return block.launch.name + ": block " + index_text(block.index) + ", thread " +
         thread_text(block, thread) + ": ";
}

std::string line_text(const Block& block, const Operation& operation) {
  const Origin& origin = block.launch.kernel.origins[operation.number];
  const std::string location = block.launch.module.location_text(origin.line);
  return location.empty() ? "" : " (" + location + ")";
}

std::string function_text(const Kernel& kernel, const Operation& operation) {
  const Origin& origin = kernel.origins[operation.number];
  const char* function = origin.instruction != nullptr ? origin.instruction->function : nullptr;
  return function != nullptr ? std::string(function) + "()" : origin.opcode;
}

void fault(const Warp& warp, int lane, const Operation& operation, const std::string& sentence,
           cudaError_t error) {
  const Block& block = *warp.block;
  const unsigned thread = warp.number * 32 + static_cast<unsigned>(lane);
  const bool synchronises = operation.flow == Flow::kWarpSync || operation.flow == Flow::kBarrier;
  const bool touches = error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress;
  throw Fault{location_text(block, thread) + sentence + line_text(block, operation), error,
              touches        ? "memcheck"
              : synchronises ? "synccheck"
                             : "program",
              touches ? lane : -1};
}

}  // namespace kernkit::simulator::ptx
