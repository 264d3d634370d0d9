// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/fault.h"

#include "ptx/machine/block.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {
namespace {

struct Named {
  const char* opcode;  // how it begins
  const char* function;
};

constexpr Named kNamed[] = {
    {"shfl.sync.idx", "__shfl_sync"},        {"shfl.sync.up", "__shfl_up_sync"},
    {"shfl.sync.down", "__shfl_down_sync"},  {"shfl.sync.bfly", "__shfl_xor_sync"},
    {"vote.sync.ballot", "__ballot_sync"},   {"vote.ballot.sync", "__ballot_sync"},
    {"vote.sync.any", "__any_sync"},         {"vote.any.sync", "__any_sync"},
    {"vote.sync.all", "__all_sync"},         {"vote.all.sync", "__all_sync"},
    {"match.any.sync", "__match_any_sync"},  {"match.all.sync", "__match_all_sync"},
    {"redux.sync.add", "__reduce_add_sync"}, {"redux.sync.min", "__reduce_min_sync"},
    {"redux.sync.max", "__reduce_max_sync"}, {"redux.sync.and", "__reduce_and_sync"},
    {"redux.sync.or", "__reduce_or_sync"},   {"redux.sync.xor", "__reduce_xor_sync"},
    {"bar.warp.sync", "__syncwarp"},         {"bar.sync", "__syncthreads"},
    {"bar.red.popc", "__syncthreads_count"}, {"bar.red.and", "__syncthreads_and"},
    {"bar.red.or", "__syncthreads_or"},
};

}  // namespace

std::string thread_text(const Block& block, unsigned thread) {
  return index_text(index_of(thread, block.launch.block));
}

std::string place_text(const Block& block, unsigned thread) {
  return block.launch.name + ": block " + index_text(block.index) + ", thread " +
         thread_text(block, thread) + ": ";
}

std::string line_text(const Block& block, const Operation& operation) {
  const Origin& origin = block.launch.kernel.origins[operation.number];
  const std::string place = block.launch.module.place(origin.line);
  return place.empty() ? "" : " (" + place + ")";
}

std::string function_text(const Kernel& kernel, const Operation& operation) {
  const std::string& opcode = kernel.origins[operation.number].opcode;
  for (const Named& named : kNamed) {
    if (opcode.rfind(named.opcode, 0) == 0) return std::string(named.function) + "()";
  }
  return opcode;
}

void fault(const Warp& warp, int lane, const Operation& operation, const std::string& what,
           cudaError_t error) {
  const Block& block = *warp.block;
  const unsigned thread = warp.number * 32 + static_cast<unsigned>(lane);
  const bool meets = operation.flow == Flow::kMeet || operation.flow == Flow::kBarrier;
  const bool touches = error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress;
  throw Fault{place_text(block, thread) + what + line_text(block, operation), error,
              touches ? "memcheck"
              : meets ? "synccheck"
                      : "program"};
}

}  // namespace kernkit::simulator::ptx
