// SPDX-License-Identifier: Apache-2.0
// PTX ISA: cp.async, which copies at once here; waiting for it does nothing.
#include <algorithm>
#include <cstring>

#include "ptx/lanes/access.h"
#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

// The source's address is that of `a`, with the offset `target`; of `b` bytes only so many come
// from there, the rest is zero.
void copy_lanes(Warp& warp, const Operation& operation) {
  const uint32_t bytes = operation.bytes, all = warp.mask;
  Places to, from;
  find_places(warp, operation, bytes, Touch::kStores, &to);
  Operation source = operation;
  source.space = Space::kGlobal;
  source.address = operation.a;
  source.address_size = 8;
  source.offset = static_cast<int32_t>(operation.target);
  if (operation.b != kNone) {
    const auto* sizes = warp.lanes<uint32_t>(operation.b);
    for (uint32_t left = all; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      if (sizes[lane] == 0) warp.mask &= ~kLane[lane];
    }
  }
  // Its place in memory is another one.
  warp.ranges[operation.number] = {};
  if (warp.mask != 0) find_places(warp, source, bytes, Touch::kLoads, &from);
  const uint32_t copied = warp.mask;
  warp.mask = all;
  for (uint32_t left = all; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    uint32_t size = (copied & kLane[lane]) != 0 ? bytes : 0;
    if (size != 0 && operation.b != kNone) {
      size = std::min(bytes, warp.lanes<uint32_t>(operation.b)[lane]);
    }
    if (size != 0) std::memcpy(to.at[lane], from.at[lane], size);
    std::memset(to.at[lane] + size, 0, bytes - size);
  }
}

}  // namespace

// cp.async.cg.shared.global [to], [from], bytes{, source bytes}
Run cp(Decoder& d) {
  if (!d.has("async")) return nullptr;
  if (d.has("commit_group") || d.has("wait_all")) return nothing;
  if (d.has("wait_group")) return d.operand(0).kind == Operand::kInteger ? nothing : nullptr;
  const bool to_shared = d.has("shared") || d.has("shared::cta");
  if (d.one_of({"ca", "cg"}).empty() || !to_shared || !d.has("global")) return nullptr;
  d.ignore({"L2::"});
  if (d.operands() != 3 && d.operands() != 4) return nullptr;
  d.address(1, Space::kGlobal);
  if (d.operation.address_size != 8 ||
      d.operation.offset != static_cast<int32_t>(d.operation.offset)) {
    return nullptr;
  }
  d.operation.a = d.operation.address;
  d.operation.target = static_cast<uint32_t>(d.operation.offset);
  d.operation.address = kNone;
  d.operation.address_size = 0;
  d.address(0, Space::kShared);
  const uint64_t bytes = d.operand(2).bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) return nullptr;
  d.operation.bytes = static_cast<uint8_t>(bytes);
  if (d.operands() == 4) d.operation.b = d.from(3, Type::kU32);
  return copy_lanes;
}

}  // namespace kernkit::cuda_on_cpu::ptx
