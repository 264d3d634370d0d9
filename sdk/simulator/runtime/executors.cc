// SPDX-License-Identifier: Apache-2.0
// The executors of the process, and their interface to the runtime.
#include <algorithm>

#include "executor.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

// Executors in the order of precedence. Never destroyed, like the runtime's state.
std::vector<KernelExecutor*>& all_executors() {
  static auto& all = *new std::vector<KernelExecutor*>{fiber_executor()};
  return all;
}

std::map<void*, Allocation>::const_iterator around(uint64_t address) {
  const auto& all = state().allocations;
  auto next = all.upper_bound(reinterpret_cast<void*>(address));
  return next == all.begin() ? all.end() : std::prev(next);
}

// Returns the start of a description of an address that is in an allocation but in none of its
// blocks, such as "4 bytes after a block of 400 bytes of"; "" for an address in a block.
std::string block_text(const Allocation& allocation, uint64_t address) {
  const auto* at = reinterpret_cast<const char*>(address);
  if (block_around(allocation, at) != nullptr) return "";
  const auto next = allocation.blocks.upper_bound(at);
  if (next == allocation.blocks.begin()) return "in no block of";
  const auto& [begin, block] = *std::prev(next);
  return bytes_text(static_cast<uint64_t>(at - begin) - block.size) + " after a block of " +
         bytes_text(block.size) + " of";
}

class AllocatedMemory : public DeviceMemory {
 public:
  Range range_of(uint64_t address) const override {
    const auto position = around(address);
    if (position == state().allocations.end() || !position->second.live) return {};
    const auto begin = reinterpret_cast<uint64_t>(position->first);
    Range range{begin, begin + position->second.size};
    if (address >= range.end) return {};
    if (position->second.has_blocks) {
      const auto* block = block_around(position->second, reinterpret_cast<const char*>(address));
      if (block == nullptr) return {};
      range.begin = reinterpret_cast<uint64_t>(block->first);
      range.end = range.begin + block->second.size;
    }
    for (const auto& [memory, size] : position->second.closed) {
      const auto first = reinterpret_cast<uint64_t>(memory);
      if (address >= first && address < first + size) return {};
      if (first + size <= address) range.begin = std::max(range.begin, first + size);
      if (first > address) range.end = std::min(range.end, first);
    }
    return range;
  }

  std::string location_of(uint64_t address) const override {
    const std::string freed = freed_text(reinterpret_cast<const void*>(address));
    const auto position = around(address);
    if (position == state().allocations.end()) {
      return freed.empty() ? "in no allocation" : "at " + freed;
    }
    const auto begin = reinterpret_cast<uint64_t>(position->first);
    const uint64_t size = position->second.size;
    const std::string allocation = " an allocation of " + bytes_text(size);
    if (address < begin + size) {
      if (position->second.live && position->second.has_blocks) {
        const std::string block = block_text(position->second, address);
        if (!block.empty()) return block + allocation;
      }
      return "at byte " + std::to_string(address - begin) + " of" + allocation +
             (!position->second.live ? " that its graph has not allocated or has freed"
                                     : " that is inaccessible to kernels at this byte");
    }
    if (!freed.empty()) return "at " + freed;
    constexpr uint64_t kNear = 1 << 20;
    if (address - begin - size > kNear) return "in no allocation";
    return bytes_text(address - begin - size) + " after" + allocation;
  }
};

}  // namespace

bool runs_machine_code(const std::vector<int>& machine_code, int device) {
  return std::any_of(machine_code.begin(), machine_code.end(),
                     [&](int code) { return code / 10 == device / 10 && code <= device; });
}

int choose_ptx(const std::vector<int>& ptx, const std::vector<int>& machine_code, int device) {
  int best = 0;
  for (const int capability : ptx) {
    if (capability <= device) best = std::max(best, capability);
  }
  if (best != 0 || ptx.empty() || !runs_machine_code(machine_code, device)) return best;
  return *std::min_element(ptx.begin(), ptx.end());
}

void register_executor(KernelExecutor* executor) { all_executors().push_back(executor); }
const std::vector<KernelExecutor*>& executors() { return all_executors(); }

KernelExecutor* executor_of(const KernelInfo& kernel) {
  // A kernel compiled by nvcc has an executor only after run_kernels(true) and while the kernel's
  // module is loaded.
  const bool is_in_module = kernel.invoke == nullptr;
  if (is_in_module && (!state().run_kernels || state().modules.count(kernel.module) == 0)) {
    return nullptr;
  }
  for (KernelExecutor* executor : all_executors()) {
    if (executor->runs(kernel)) return executor;
  }
  return nullptr;
}

bool is_variable(const void* address, cudaPointerAttributes* attributes) {
  return std::any_of(all_executors().begin(), all_executors().end(),
                     [&](KernelExecutor* executor) { return executor->owns(address, attributes); });
}

bool find_variable(const void* address, VariableRange* variable) {
  return std::any_of(all_executors().begin(), all_executors().end(), [&](KernelExecutor* executor) {
    return executor->find_variable(address, variable);
  });
}

ExecutionContext execution_context() {
  return {thread_state().device, current_device().compute_capability, state().generation};
}
const Settings& execution_settings() { return state().settings; }
const DeviceMemory& allocated_memory() {
  static const AllocatedMemory& memory = *new AllocatedMemory;  // never destroyed, like State
  return memory;
}
std::recursive_mutex& runtime_mutex() { return state().mutex; }

}  // namespace kernkit::simulator
