// SPDX-License-Identifier: Apache-2.0
// Calls of functions of the module, of the device's functions vprintf, __assertfail, malloc and
// free, and of functions of the device runtime.
#include <cstdio>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"
#include "ptx/semantics/call_parameters.h"
#include "ptx/semantics/printf.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

void print(Warp& warp, const Operation& operation) {
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const auto format = parameter<uint64_t>(warp, operation, 0, lane);
    const auto arguments = parameter<uint64_t>(warp, operation, 1, lane);
    if (format == 0) {
      set_result<int32_t>(warp, operation, lane, -1);
      continue;
    }
    const std::string text = text_at(warp, lane, operation, format);
    const Printed printed = formatted(warp, lane, operation, text, arguments);
    print_text(printed.text);
    set_result<int32_t>(warp, operation, lane, printed.arguments);
  }
}

void fail_assertion(Warp& warp, const Operation& operation) {
  const int lane = __builtin_ctz(warp.mask);
  const auto text = [&](int which) {
    return text_at(warp, lane, operation, parameter<uint64_t>(warp, operation, which, lane));
  };
  const std::string path = text(1);
  const std::string file = path.substr(path.rfind('/') + 1);
  const auto line = parameter<uint32_t>(warp, operation, 2, lane);
  const unsigned thread = warp.number * 32 + static_cast<unsigned>(lane);
  throw Fault{location_text(*warp.block, thread) + "assert(" + text(0) + ") failed, " + file + ":" +
                  std::to_string(line),
              cudaErrorAssert};
}

void allocate(Warp& warp, const Operation& operation) {
  const Launch& launch = warp.block->launch;
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const auto bytes = parameter<uint64_t>(warp, operation, 0, lane);
    const uint64_t address = launch.heap.allocate(bytes, launch.poison);
    set_result(warp, operation, lane, address);
  }
}

void give_back(Warp& warp, const Operation& operation) {
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const auto address = parameter<uint64_t>(warp, operation, 0, lane);
    if (address == 0 || warp.block->launch.heap.release(address)) continue;
    fault(warp, lane, operation,
          "free(): malloc() did not return the address, or free() already released the memory",
          cudaErrorIllegalAddress);
  }
}

}  // namespace

Run call(Decoder& d) {
  const size_t callee = d.operand(0).kind == Operand::kVector ? 1 : 0;
  const std::string& name = d.operand(callee).name;
  if (name == "vprintf") {
    take_parameters(d, callee, 2, sizeof(int32_t));
    return print;
  }
  if (name == "__assertfail") {
    take_parameters(d, callee, 3);
    return fail_assertion;
  }
  if (name == "malloc") {
    if (callee != 1 || d.operand(0).parts.empty()) return nullptr;
    take_parameters(d, callee, 1, sizeof(uint64_t));
    return allocate;
  }
  if (name == "free") {
    take_parameters(d, callee, 1);
    return give_back;
  }
  if (const Run run = call_device_runtime(d, callee, name)) return run;
  d.call();
  return nothing;
}

}  // namespace kernkit::simulator::ptx
