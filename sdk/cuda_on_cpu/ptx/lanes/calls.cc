// SPDX-License-Identifier: Apache-2.0
// Calls: of functions of the module, and of those that the device has: vprintf, __assertfail,
// malloc and free.
#include <cstdio>
#include <cstring>

#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"
#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/printf.h"
#include "ptx/machine/window.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

// The operation's offset has the place of each in local memory, 16 bits of it; the result is the
// last one.
unsigned char* place(Warp& warp, const Operation& operation, int which, int lane) {
  auto at = static_cast<size_t>(operation.offset >> 16 * which & 0xffff);
  if (operation.address != kNone) at += warp.lanes<uint64_t>(operation.address)[lane];
  return warp.local.of(lane) + at;
}
template <class T>
T parameter(Warp& warp, const Operation& operation, int which, int lane) {
  T value;
  std::memcpy(&value, place(warp, operation, which, lane), sizeof(T));
  return value;
}

void print(Warp& warp, const Operation& operation) {
  for (uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const std::string format =
        text_at(warp, lane, operation, parameter<uint64_t>(warp, operation, 0, lane));
    const auto arguments = parameter<uint64_t>(warp, operation, 1, lane);
    const std::string text = formatted(warp, lane, operation, format, arguments);
    std::fputs(text.c_str(), stdout);
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
  throw Fault{place_text(*warp.block, thread) + "assert(" + text(0) + ") failed, " + file + ":" +
                  std::to_string(line),
              cudaErrorAssert};
}

void allocate(Warp& warp, const Operation& operation) {
  const Launch& launch = warp.block->launch;
  for (uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const auto bytes = parameter<uint64_t>(warp, operation, 0, lane);
    const uint64_t address = launch.heap.allocate(bytes, launch.poison);
    std::memcpy(place(warp, operation, 1, lane), &address, sizeof(address));
  }
}

void give_back(Warp& warp, const Operation& operation) {
  for (uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const auto address = parameter<uint64_t>(warp, operation, 0, lane);
    if (address == 0 || warp.block->launch.heap.release(address)) continue;
    fault(warp, lane, operation,
          "free(): malloc() did not return the address, or it was given back before",
          cudaErrorIllegalAddress);
  }
}

// Up to four parameters and results of a function of the device, by their places in local memory.
void take_places(Decoder& d, const std::vector<Operand>& all, size_t most = 4) {
  int shift = 0;
  for (size_t i = 0; i < all.size() && i < most; ++i) {
    const uint64_t place = d.local_place(all[i]);
    if (place > 0x7fff) d.refuse("its parameters lie too far away");
    d.operation.offset |= static_cast<int64_t>(place << shift);
    shift += 16;
  }
}

}  // namespace

Run call(Decoder& d) {
  d.ignore({"uni"});
  const size_t callee = d.operand(0).kind == Operand::kVector ? 1 : 0;
  const std::string& name = d.operand(callee).name;
  if (name == "vprintf") {
    take_places(d, d.operand(callee + 1).parts, 2);
    return print;
  }
  if (name == "__assertfail") {
    take_places(d, d.operand(callee + 1).parts, 3);
    return fail_assertion;
  }
  if (name == "malloc") {
    if (callee != 1 || d.operand(0).parts.empty() || d.operand(2).parts.empty()) return nullptr;
    take_places(d, {d.operand(2).parts[0], d.operand(0).parts[0]});
    return allocate;
  }
  if (name == "free") {
    take_places(d, d.operand(callee + 1).parts);
    return give_back;
  }
  d.call();
  return nothing;
}

}  // namespace kernkit::cuda_on_cpu::ptx
