// SPDX-License-Identifier: Apache-2.0
#include "tools/instrumented_kernel.h"

#include <map>
#include <tuple>

#include "ptx/machine/block.h"
#include "ptx/machine/tool_hooks.h"

namespace kernkit::simulator::ptx {
namespace {

void run_watched(Warp& warp, const Operation& operation) {
  const Block& block = *warp.block;
  block.watch->before(warp, operation);
  block.launch.watched->runs[operation.number](warp, operation);
  block.watch->after(warp, operation);
}

// Constants and parameters are no memory that a kernel asks for: all lanes read one of them.
AccessKind access_of(const Operation& operation, const std::string& opcode) {
  const auto begins = [&](const char* text) { return opcode.rfind(text, 0) == 0; };
  if (operation.bytes == 0 || operation.space == Space::kParam) return AccessKind::kNone;
  if (opcode.find(".const") != std::string::npos) return AccessKind::kNone;
  for (const char* load : {"ld.", "ldu.", "ldmatrix.", "wmma.load."}) {
    if (begins(load)) return AccessKind::kLoad;
  }
  for (const char* store : {"st.", "stmatrix.", "wmma.store."}) {
    if (begins(store)) return AccessKind::kStore;
  }
  if (begins("atom.") || begins("red.")) return AccessKind::kAtomic;
  return begins("cp.async") ? AccessKind::kCopy : AccessKind::kNone;
}

bool has(const std::string& opcode, const char* word) {
  return opcode.find(word) != std::string::npos;
}

Reach reach_of(const std::string& opcode) {
  return has(opcode, ".cta") ? Reach::kBlock : Reach::kDevice;
}
Reach ordered(const std::string& opcode, AccessKind kind) {
  bool is_ordered = kind == AccessKind::kAtomic;
  for (const char* word : {".volatile", ".relaxed", ".acquire", ".release", ".mmio", ".acq_rel"}) {
    is_ordered |= has(opcode, word);
  }
  return is_ordered ? reach_of(opcode) : Reach::kNone;
}
// An access that releases is one as well.
Reach fence(const std::string& opcode, AccessKind kind) {
  const bool fences = opcode.rfind("membar", 0) == 0 || opcode.rfind("fence", 0) == 0;
  const bool releases =
      kind != AccessKind::kNone && (has(opcode, ".release") || has(opcode, ".acq_rel"));
  return fences || releases ? reach_of(opcode) : Reach::kNone;
}

GridStep grid_step(const std::string& opcode) {
  if (opcode.rfind("griddepcontrol", 0) != 0) return GridStep::kNone;
  return has(opcode, ".wait") ? GridStep::kWaits : GridStep::kTriggers;
}

}  // namespace

WatchedKernel::WatchedKernel(const Kernel& original, const Module& module) : kernel(original) {
  std::map<std::tuple<int, int, std::string>, uint32_t> known;
  for (Operation& operation : kernel.code) {
    const Origin& origin = kernel.origins[operation.number];
    runs.push_back(operation.run);
    accesses.push_back(access_of(operation, origin.opcode));
    ordered.push_back(ptx::ordered(origin.opcode, accesses.back()));
    fences.push_back(fence(origin.opcode, accesses.back()));
    grid_steps.push_back(grid_step(origin.opcode));
    if (operation.run != nullptr) operation.run = run_watched;
    const SourceLine& at = origin.line;
    const std::string place = module.place(at);
    const auto [found, is_new] =
        known.emplace(std::tuple{at.file, at.line, place}, static_cast<uint32_t>(lines.size()));
    line_of.push_back(found->second);
    if (!is_new) continue;
    const auto file = module.files.find(at.file);
    lines.push_back({place, file != module.files.end() ? file->second : "", at.line});
  }
}

}  // namespace kernkit::simulator::ptx
