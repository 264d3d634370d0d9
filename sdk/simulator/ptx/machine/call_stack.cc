// SPDX-License-Identifier: Apache-2.0
// Calls of functions that have frames. A frame is in local memory, after the caller's frame; the
// lane's registers are saved until the function returns.
#include <cstdio>
#include <cstring>

#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint64_t kFrameAlignment = 64;

std::vector<unsigned char> registers_of(const Warp& warp, const Kernel& kernel, int lane) {
  std::vector<unsigned char> all;
  for (const Slot& slot : kernel.slots) {
    const unsigned char* at = warp.registers + slot.at;
    if (slot.size == 0) {
      uint32_t bits;
      std::memcpy(&bits, at, sizeof(bits));
      all.push_back((bits & kLane[lane]) != 0);
    } else {
      const unsigned char* bytes = at + static_cast<size_t>(lane) * slot.size;
      all.insert(all.end(), bytes, bytes + slot.size);
    }
  }
  return all;
}

void set_registers(Warp& warp, const Kernel& kernel, int lane, const unsigned char* from) {
  for (const Slot& slot : kernel.slots) {
    if (slot.size == 0) {
      uint32_t& bits = warp.predicate(slot.at);
      bits = *from++ != 0 ? bits | kLane[lane] : bits & ~kLane[lane];
    } else {
      std::memcpy(warp.registers + slot.at + static_cast<size_t>(lane) * slot.size, from,
                  slot.size);
      from += slot.size;
    }
  }
}

}  // namespace

void Warp::call(const Operation& operation, int lane, uint32_t number) {
  const Kernel& kernel = block->launch.kernel;
  const CallSite& site = kernel.calls[operation.target];
  const CalledFunction& function = kernel.functions[number];
  const uint32_t bytes =
      site.caller == kNone ? kernel.frame_bytes : kernel.functions[site.caller].frame_bytes;
  uint64_t& frame = lanes<uint64_t>(kernel.frame)[lane];
  const uint64_t next = (frame + bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  if (next + function.frame_bytes > kernel.local_bytes) {
    fault(*this, lane, operation,
          "nested calls need more than " + std::to_string(kernel.local_bytes - kernel.frame_bytes) +
              " bytes of stack",
          cudaErrorLaunchFailure);
  }
  unsigned char* memory = local.at_lane(lane);
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    std::memcpy(memory + next + function.parameters[i].at, memory + frame + site.parameters[i],
                function.parameters[i].size);
  }
  callers[lane].push_back({pc + 1, operation.target, number, registers_of(*this, kernel, lane)});
  frame = next;
}

void Warp::call(const Operation& operation, uint32_t arrived) {
  const Kernel& kernel = block->launch.kernel;
  const uint32_t callee = kernel.calls[operation.target].function;
  suspend(Part::kReady, active & ~arrived, pc + 1);  // lanes with a false guard continue
  for (uint32_t remaining = arrived; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    uint32_t number = callee;
    if (callee == kNone) {
      const uint64_t address = lanes<uint64_t>(operation.src0)[lane];
      for (number = 0; number < kernel.functions.size(); ++number) {
        if (address_of_function(kernel.functions[number].number) == address) break;
      }
      if (number == kernel.functions.size()) {
        char text[64];
        std::snprintf(text, sizeof(text), "calls 0x%llx, which is not a function's address",
                      static_cast<unsigned long long>(address));
        fault(*this, lane, operation, text);
      }
    }
    call(operation, lane, number);
    suspend(Part::kReady, kLane[lane], kernel.functions[number].entry);
  }
  select_next_part();
}

void Warp::leave_function(uint32_t arrived) {
  const Kernel& kernel = block->launch.kernel;
  suspend(Part::kReady, active & ~arrived, pc + 1);
  for (uint32_t remaining = arrived; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const Caller caller = std::move(callers[lane].back());
    callers[lane].pop_back();
    const uint64_t frame = lanes<uint64_t>(kernel.frame)[lane];
    set_registers(*this, kernel, lane, caller.registers.data());
    const uint64_t before = lanes<uint64_t>(kernel.frame)[lane];
    unsigned char* memory = local.at_lane(lane);
    const CalledFunction& function = kernel.functions[caller.function];
    const CallSite& site = kernel.calls[caller.call];
    for (size_t i = 0; i < function.results.size(); ++i) {
      std::memcpy(memory + before + site.results[i], memory + frame + function.results[i].at,
                  function.results[i].size);
    }
    suspend(Part::kReady, kLane[lane], caller.pc);
  }
  select_next_part();
}

}  // namespace kernkit::simulator::ptx
