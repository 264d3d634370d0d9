// SPDX-License-Identifier: Apache-2.0
// PTX ISA: cp.async. AsyncCopies stores the bytes of a copy when the copy completes.
#include <algorithm>
#include <cstring>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

// Finds the memory of `bytes` bytes at offset `at` of the source of each lane in `lanes`.
void find_source(Warp& warp, Operation source, uint32_t lanes, uint32_t at, uint32_t bytes,
                 LanePointers* pointers) {
  if (lanes == 0) return;
  source.offset += at;
  warp.mask = lanes;
  find_pointers(warp, source, bytes, Touch::kLoads, pointers);
}

// Adds the copies of a cp.async. The source address is src0 plus Operation::target [bytes]. src1 is
// the number of bytes to copy; the remaining bytes of the destination become zero.
void copy_lanes(Warp& warp, const Operation& operation) {
  const uint32_t bytes = operation.bytes, all = warp.mask;
  LanePointers to, from;
  find_pointers(warp, operation, bytes, Touch::kStores, &to);
  Operation source = operation;
  source.space = Space::kGlobal;
  source.address = operation.src0;
  source.address_size = 8;
  source.offset = static_cast<int32_t>(operation.target);
  source.variable = kNone;
  uint32_t sizes[32], complete = 0;
  for (int lane = 0; lane < 32; ++lane) {
    sizes[lane] = operation.src1 == kNone ? bytes : warp.lanes<uint32_t>(operation.src1)[lane];
    sizes[lane] = std::min(sizes[lane], bytes);
    complete |= sizes[lane] == bytes ? all & kLane[lane] : 0;
  }
  // Clears the operation's cached range, which contains the destination: find_source() must not use
  // it.
  warp.ranges[operation.number] = {};
  find_source(warp, source, complete, 0, bytes, &from);
  for (uint32_t remaining = all & ~complete; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    if (sizes[lane] == 0) continue;
    find_source(warp, source, kLane[lane], sizes[lane] - 1, 1, &from);
    find_source(warp, source, kLane[lane], 0, 1, &from);
  }
  warp.mask = all;
  for (uint32_t remaining = all; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    warp.copies.add(lane, to.at[lane], from.at[lane], bytes, sizes[lane]);
  }
}

void commit_copies(Warp& warp, const Operation&) { warp.copies.commit(warp.mask); }
void wait_for_groups(Warp& warp, const Operation& operation) {
  warp.copies.wait(warp.mask, static_cast<uint64_t>(operation.offset));
}
void wait_for_copies(Warp& warp, const Operation&) {
  warp.copies.commit(warp.mask);
  warp.copies.wait(warp.mask, 0);
}

}  // namespace

// Decodes cp.async.cg.shared.global [to], [from], bytes{, source bytes or predicate}{, policy}. In
// lanes where the predicate holds, the copy stores zeros and reads no byte of the source.
Run cp(Decoder& d) {
  if (!d.has("async")) return nullptr;
  if (d.has("commit_group")) return commit_copies;
  if (d.has("wait_all")) return wait_for_copies;
  if (d.has("wait_group")) {
    d.operation.offset = static_cast<int64_t>(d.operand(0).bits);
    return d.operand(0).kind == Operand::kInteger ? wait_for_groups : nullptr;
  }
  const bool to_shared = d.has("shared") || d.has("shared::cta");
  if (d.one_of({"ca", "cg"}).empty() || !to_shared || !d.has("global")) return nullptr;
  const size_t policies = d.has("L2::cache_hint") ? 1 : 0;
  const bool has_source_bytes = d.operands() == 4 + policies;
  d.need_operands_and_policy(has_source_bytes ? 4 : 3);
  d.address(1, Space::kGlobal);
  if (d.operation.address_size != 8 ||
      d.operation.offset != static_cast<int32_t>(d.operation.offset)) {
    return nullptr;
  }
  d.operation.src0 = d.operation.address;
  d.operation.target = static_cast<uint32_t>(d.operation.offset);
  d.operation.address = kNone;
  d.operation.address_size = 0;
  d.address(0, Space::kShared);
  const uint64_t bytes = d.operand(2).bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) return nullptr;
  d.operation.bytes = static_cast<uint8_t>(bytes);
  if (!has_source_bytes) return copy_lanes;
  const bool is_predicate = d.type_of_register(d.operand(3)) == Type::kPred;
  d.operation.src1 =
      is_predicate ? d.selected(3, 0, static_cast<uint32_t>(bytes)) : d.from(3, Type::kU32);
  return copy_lanes;
}

}  // namespace kernkit::simulator::ptx
