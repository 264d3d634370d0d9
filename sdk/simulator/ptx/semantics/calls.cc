// SPDX-License-Identifier: Apache-2.0
// Calls of functions of the module, and of the device's functions vprintf, __assertfail, malloc and
// free.
#include <cstdio>
#include <cstring>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"
#include "ptx/semantics/printf.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

// Operation::offset packs four offsets in local memory of 16 bits: up to three parameters, then the
// result, whose size is Operation::bytes.
constexpr int kResult = 3;

unsigned char* local_pointer(Warp& warp, const Operation& operation, int which, int lane) {
  auto at = static_cast<size_t>(operation.offset >> 16 * which & 0xffff);
  if (operation.address != kNone) at += warp.lanes<uint64_t>(operation.address)[lane];
  return warp.local.at_lane(lane) + at;
}
template <class T>
T parameter(Warp& warp, const Operation& operation, int which, int lane) {
  T value;
  std::memcpy(&value, local_pointer(warp, operation, which, lane), sizeof(T));
  return value;
}
template <class T>
void set_result(Warp& warp, const Operation& operation, int lane, T value) {
  if (operation.bytes == 0) return;
  std::memcpy(local_pointer(warp, operation, kResult, lane), &value, sizeof(T));
}

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

void take_places(Decoder& d, size_t callee, size_t parameters, uint8_t result_bytes = 0) {
  const auto take = [&](int which, const Operand& operand) {
    const uint64_t address = d.local_address(operand);
    if (address > 0x7fff)
      d.reject("parameters are more than 32767 bytes from the start of the frame");
    d.operation.offset |= static_cast<int64_t>(address << 16 * which);
  };
  const std::vector<Operand>& all = d.operand(callee + 1).parts;
  if (all.size() < parameters) d.reject("too few parameters");
  for (size_t i = 0; i < parameters; ++i) take(static_cast<int>(i), all[i]);
  if (result_bytes == 0 || callee == 0 || d.operand(0).parts.empty()) return;
  take(kResult, d.operand(0).parts[0]);
  d.operation.bytes = result_bytes;
}

}  // namespace

Run call(Decoder& d) {
  const size_t callee = d.operand(0).kind == Operand::kVector ? 1 : 0;
  const std::string& name = d.operand(callee).name;
  if (name == "vprintf") {
    take_places(d, callee, 2, sizeof(int32_t));
    return print;
  }
  if (name == "__assertfail") {
    take_places(d, callee, 3);
    return fail_assertion;
  }
  if (name == "malloc") {
    if (callee != 1 || d.operand(0).parts.empty()) return nullptr;
    take_places(d, callee, 1, sizeof(uint64_t));
    return allocate;
  }
  if (name == "free") {
    take_places(d, callee, 1);
    return give_back;
  }
  d.call();
  return nothing;
}

}  // namespace kernkit::simulator::ptx
