// SPDX-License-Identifier: Apache-2.0
#include "runtime/ranges.h"

#include <algorithm>

#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

constexpr size_t kNearEnd = size_t{1} << 20;  // largest reported distance past an end [bytes]

/// The allocation, freed allocation or variable that contains an address; `begin` is null if there
/// is none.
struct Surroundings {
  const char* begin = nullptr;
  size_t size = 0;           // size of the memory [bytes]
  const char* kind = "";     // kind of memory, such as "an allocation"
  std::string state;         // end of a report on inaccessible memory; else empty
  unsigned long number = 0;  // number of the allocation; 0 for other memory
};

std::string freed_by(const char* allocated, const char* freed) {
  const auto call_text = [](const char* name) { return std::string(name) + "()"; };
  return (*allocated != '\0' ? " by " + call_text(allocated) : "") +
         (*freed != '\0' ? " that " + call_text(freed) + " freed" : " that was freed");
}

std::string state_of(const Allocation& allocation, bool captured) {
  if (allocation.freed) return freed_by(allocation.allocated_by, allocation.freed_by);
  const bool is_there = captured || allocation.held || !allocation.of_graph;
  return is_there ? "" : " that its graph has not allocated or has freed";
}

Surroundings around_freed(const void* address) {
  const auto freed = state().freed.upper_bound(const_cast<void*>(address));
  if (freed == state().freed.begin()) return {};
  const auto& [memory, allocation] = *std::prev(freed);
  const auto* begin = static_cast<const char*>(memory);
  if (static_cast<const char*>(address) >= begin + allocation.size) return {};
  return {begin, allocation.size, "an allocation",
          freed_by(allocation.allocated_by, allocation.freed_by), 0};
}

Surroundings around(const void* address, bool captured) {
  const auto next = state().allocations.upper_bound(const_cast<void*>(address));
  const auto* at = static_cast<const char*>(address);
  if (next != state().allocations.begin()) {
    const auto& [memory, allocation] = *std::prev(next);
    const auto* begin = static_cast<const char*>(memory);
    if (at < begin + allocation.size) {
      return {begin, allocation.size, "an allocation", state_of(allocation, captured),
              allocation.number};
    }
  }
  VariableRange variable{};
  if (find_variable(address, &variable)) {
    return {variable.begin, variable.size, "a variable", "", 0};
  }
  return around_freed(address);
}

std::string allocation_text(const Surroundings& all) {
  return std::string(all.kind) + " of " + bytes_text(all.size);
}

std::string location_text(const void* address, const Surroundings& all) {
  return "byte " + std::to_string(static_cast<const char*>(address) - all.begin) + " of " +
         allocation_text(all) + all.state;
}

// Describes an address outside of allocations; "" if no allocation ends shortly before the address.
std::string outside_text(const void* address) {
  if (address == nullptr) return "a null pointer";
  const auto next = state().allocations.upper_bound(const_cast<void*>(address));
  if (next == state().allocations.begin()) return "";
  const auto& [memory, allocation] = *std::prev(next);
  const auto distance = static_cast<size_t>(static_cast<const char*>(address) -
                                            static_cast<const char*>(memory) - allocation.size);
  if (distance > kNearEnd || !is_reserved(address)) return "";
  return bytes_text(distance) + " past the end of an allocation of " + bytes_text(allocation.size);
}

std::string range_text(const MemoryRange& range, const Surroundings& all) {
  const std::string size = bytes_text(range.size);
  if (all.begin == nullptr) {
    const std::string outside = outside_text(range.at);
    return outside.empty() ? size + " that are in no allocation" : size + " at " + outside;
  }
  const auto at = static_cast<size_t>(static_cast<const char*>(range.at) - all.begin);
  return size + " at byte " + std::to_string(at) + " of " + allocation_text(all);
}

}  // namespace

cudaError_t reject_argument(const std::string& message, cudaError_t error) {
  const std::string function = thread_state().function;
  note_fault(function + "(): " + message);
  if (runtime_hooks.call_failed != nullptr)
    runtime_hooks.call_failed(function.c_str(), error, message);
  return error;
}

cudaError_t check_range(MemoryRange* range, Side side, bool captured) {
  if (range->size == 0) return cudaSuccess;
  const Surroundings all = around(range->at, captured);
  range->number = all.number;
  const std::string argument = std::string(range->argument) + ": ";
  if (all.begin == nullptr) {
    const bool of_host = range->at != nullptr && !is_reserved(range->at);
    if (side == Side::kAny && of_host) return cudaSuccess;
    return reject_argument(argument + range_text(*range, all));
  }
  if (!all.state.empty()) return reject_argument(argument + range_text(*range, all) + all.state);
  const auto remaining =
      all.size - static_cast<size_t>(static_cast<const char*>(range->at) - all.begin);
  if (range->size <= remaining) return cudaSuccess;
  return reject_argument(argument + range_text(*range, all) + " end " +
                         bytes_text(range->size - remaining) + " past its end");
}

std::string address_text(const void* address) {
  const Surroundings all = around(address, false);
  if (all.begin != nullptr) return location_text(address, all);
  const std::string outside = outside_text(address);
  return outside.empty() ? "an address in no allocation" : outside;
}

std::string freed_text(const void* address) {
  const Surroundings all = around_freed(address);
  return all.begin != nullptr ? location_text(address, all) : "";
}

bool is_still_allocated(const MemoryRange& range, const char* function, const char* work,
                        int device) {
  if (range.number == 0 || range.size == 0) return true;
  const Allocation* allocation = allocation_of(range.at);
  const bool same = allocation != nullptr && allocation->number == range.number;
  if (same && allocation->live) return true;
  const Surroundings all = around(range.at, true);
  // If the memory was freed and the address belongs to another allocation now, the message states
  // only the size of the range.
  const std::string location =
      same || all.number == 0 ? range_text(range, all) : bytes_text(range.size);
  const std::string message = std::string(range.argument) + ": " + location +
                              (same ? " that its graph has not allocated or has freed when the "
                                    : " that was freed before the ") +
                              work + " ran";
  fault(std::string(function) + "(): " + message, device, cudaErrorIllegalAddress);
  if (runtime_hooks.call_failed != nullptr)
    runtime_hooks.call_failed(function, cudaErrorIllegalAddress, message);
  return false;
}

}  // namespace kernkit::simulator
