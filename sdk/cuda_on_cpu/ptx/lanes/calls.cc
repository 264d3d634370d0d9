// SPDX-License-Identifier: Apache-2.0
// Calls: of functions of the module, and of those that the device has: vprintf and __assertfail.
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

// The operation's offset has the place of each in local memory, 16 bits of it.
template <class T>
T parameter(Warp& warp, const Operation& operation, int which, int lane) {
  auto at = static_cast<size_t>(operation.offset >> 16 * which & 0xffff);
  if (operation.address != kNone) at += warp.lanes<uint64_t>(operation.address)[lane];
  T value;
  std::memcpy(&value, warp.local.of(lane) + at, sizeof(T));
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

// Up to four parameters of a function of the device, by their places in local memory.
void take_places(Decoder& d, const Operand& list, size_t most) {
  int shift = 0;
  for (size_t i = 0; i < list.parts.size() && i < most; ++i) {
    const uint64_t place = d.local_place(list.parts[i]);
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
    take_places(d, d.operand(callee + 1), 2);
    return print;
  }
  if (name == "__assertfail") {
    take_places(d, d.operand(callee + 1), 3);
    return fail_assertion;
  }
  d.call();
  return nothing;
}

}  // namespace kernkit::cuda_on_cpu::ptx
