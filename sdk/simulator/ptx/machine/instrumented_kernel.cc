// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/instrumented_kernel.h"

#include <map>
#include <tuple>

#include "hooks.h"
#include "ptx/machine/block.h"

namespace kernkit::simulator::ptx {
namespace {

void run_instrumented(Warp& warp, const Operation& operation) {
  const Block& block = *warp.block;
  block.hooks->before(warp, operation);
  block.launch.instrumented->runs[operation.number](warp, operation);
  block.hooks->after(warp, operation);
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
