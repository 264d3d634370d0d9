// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/instrumented_kernel.h"

#include <map>
#include <tuple>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"

namespace kernkit::simulator::ptx {
namespace {

// Maximum number of invalid accesses of a block that are left out; the next invalid access ends the
// kernel. The limit is needed for loops whose bound would have been loaded by a left-out access:
// such a loop may have very many iterations.
constexpr unsigned kMostLeftOut = 10000;

// Runs an operation. If a tool continues after faults, an invalid access of ld, st, atom or red is
// left out: the register of a load keeps its value. Returns the lanes that ran the operation.
uint32_t run_valid(Warp& warp, const Operation& operation) {
  Block& block = *warp.block;
  const Run run = block.launch.instrumented->runs[operation.number];
  const uint32_t all = warp.mask;
  uint32_t lanes = all;
  for (;;) {
    try {
      run(warp, operation);
      return lanes;
    } catch (const Fault& fault) {
      warp.mask = all;
      const AccessKind access = block.launch.kernel.origins[operation.number].access;
      const bool is_plain = operation.members == kNone && operation.flow == Flow::kNext &&
                            access != AccessKind::kNone && access != AccessKind::kCopy;
      if (fault.lane < 0 || !is_plain || !block.launch.hooks->continues_after_faults() ||
          ++block.num_left_out > kMostLeftOut) {
        throw;
      }
      if (block.left_out == nullptr) block.left_out = std::make_unique<Fault>(fault);
      lanes &= ~kLane[fault.lane];
      if (lanes == 0) return 0;
      warp.mask = lanes;
    }
  }
}

void run_instrumented(Warp& warp, const Operation& operation) {
  const Block& block = *warp.block;
  block.hooks->before(warp, operation);
  const uint32_t all = warp.mask, lanes = run_valid(warp, operation);
  warp.mask = lanes;
  lanes != 0 ? block.hooks->after(warp, operation) : block.hooks->leaves_out(warp, operation);
  warp.mask = all;
}

}  // namespace

InstrumentedKernel::InstrumentedKernel(const Kernel& original, const Module& module)
    : kernel(original) {
  std::map<std::tuple<int, int, std::string>, uint32_t> numbers;
  for (Operation& operation : kernel.code) {
    const Origin& origin = kernel.origins[operation.number];
    runs.push_back(operation.run);
    if (operation.run != nullptr) operation.run = run_instrumented;
    const SourceLine& at = origin.line;
    const std::string location = module.location_text(at);
    const auto [position, is_new] = numbers.emplace(std::tuple{at.file, at.line, location},
                                                    static_cast<uint32_t>(lines.size()));
    line_of.push_back(position->second);
    if (!is_new) continue;
    const auto file = module.files.find(at.file);
    lines.push_back({location, file != module.files.end() ? file->second : "", at.line});
  }
}

std::string InstrumentedKernel::line_text(uint32_t operation) const {
  const std::string& location = lines[line_of[operation]].place;
  return location.empty() ? "" : " (" + location + ")";
}

}  // namespace kernkit::simulator::ptx
