// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Control Flow Instructions", and barriers and fences of "Parallel Synchronization". Warp
// implements the control flow.
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/semantics/tensor_map_space.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

void stop_kernel(Warp& warp, const Operation& operation) {
  fault(warp, __builtin_ctz(warp.mask), operation, "__trap()");
}

void stop_at_breakpoint(Warp& warp, const Operation& operation) {
  fault(warp, __builtin_ctz(warp.mask), operation,
        "brkpt: the thread is at a breakpoint, and no debugger is attached that continues it");
}

// Decodes bar.sync a{, b}; bar.arrive a, b; and bar.red.popc d, a{, b}, p.
Run barrier_of_block(Decoder& d) {
  Operation& operation = d.operation;
  operation.flow = Flow::kBarrier;
  if (d.has("sync")) {
    operation.src0 = d.from(0, Type::kU32);
    if (d.operands() == 2) operation.src1 = d.from(1, Type::kU32);
    return d.operands() <= 2 ? nothing : nullptr;
  }
  if (d.has("arrive")) {
    operation.mode = 1;
    d.need_operands(2);
    operation.src0 = d.from(0, Type::kU32);
    operation.src1 = d.from(1, Type::kU32);
    return nothing;
  }
  if (!d.has("red")) return nullptr;
  const std::string_view name = d.one_of({"popc", "and", "or"});
  if (name.empty()) return nullptr;
  operation.mode = name == "popc" ? 2 : name == "and" ? 3 : 4;
  const Type type = d.type();
  if (type == Type::kPred) {
    operation.dst_predicate = d.to(0, type);
  } else {
    operation.dst = d.to(0, type);
  }
  operation.src0 = d.from(1, Type::kU32);
  const size_t last = d.operands() - 1;
  if (last == 3) operation.src1 = d.from(2, Type::kU32);
  operation.src2 = d.predicate_from(last);
  return last == 2 || last == 3 ? nothing : nullptr;
}

constexpr uint8_t kRelaxed = 1;  // Operation::mode of barrier.cluster.arrive.relaxed

void arrive_at_cluster(Warp& warp, const Operation& operation) {
  Block& block = *warp.block;
  if ((warp.in_cluster_barrier & warp.mask) != 0) {
    fault(
        warp, __builtin_ctz(warp.in_cluster_barrier & warp.mask), operation,
        function_text(block.launch.kernel, operation) +
            ": the thread has arrived already; expected barrier.cluster.wait before this arrival");
  }
  warp.in_cluster_barrier |= warp.mask;
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    warp.cluster_phase[__builtin_ctz(remaining)] = block.cluster->phase();
  }
  if (block.hooks != nullptr) block.hooks->arrives_at_cluster(warp, operation.mode != kRelaxed);
  block.cluster->arrive(static_cast<unsigned>(__builtin_popcount(warp.mask)));
}

Run barrier_of_cluster(Decoder& d) {
  d.need_operands(0);
  if (d.has("arrive")) {
    if (d.has("relaxed")) d.operation.mode = kRelaxed;
    return arrive_at_cluster;
  }
  if (!d.has("wait")) return nullptr;
  d.operation.flow = Flow::kClusterWait;
  return nothing;
}

}  // namespace

Run bra(Decoder& d) {
  d.branch(0);
  return nothing;
}
Run brx(Decoder& d) {
  if (!d.has("idx")) return nullptr;
  d.branch_by_table();
  return nothing;
}
Run ret(Decoder& d) {
  d.leave_function();
  return nothing;
}
Run exit(Decoder& d) {
  d.operation.flow = Flow::kExit;
  return nothing;
}
Run trap(Decoder&) { return stop_kernel; }
Run brkpt(Decoder&) { return stop_at_breakpoint; }

Run bar(Decoder& d) {
  if (d.has("cluster")) return barrier_of_cluster(d);
  if (!d.has("warp")) return barrier_of_block(d);
  if (!d.has("sync")) return nullptr;
  d.operation.flow = Flow::kWarpSync;
  d.operation.members = d.from(0, Type::kU32);
  d.operation.mode = kOnlySynchronises;
  return nothing;
}

Run nanosleep(Decoder& d) {
  d.operation.flow = Flow::kYield;
  return nothing;
}
// Executes a fence of a wider scope than .cta, which orders blocks on several OS threads: all such
// fences add to the same atomic, so a block reads the values that other blocks wrote before their
// earlier fences.
void sync_blocks(Warp&, const Operation&) {
  static int counter = 0;
  __atomic_fetch_add(&counter, 1, __ATOMIC_ACQ_REL);
}
Run fence(Decoder& d) {
  const bool in_block = d.has("cta");
  return in_block ? nothing : sync_blocks;
}
// Decodes fence.proxy.async{.space}, which affects only the tools.
Run proxy_fence(Decoder& d) {
  const std::string_view space = d.one_of({"global", "shared::cta", "shared::cluster"});
  d.operation.mode = space.empty()       ? kFencesGlobal | kFencesShared
                     : space == "global" ? kFencesGlobal
                                         : kFencesShared;
  return nothing;
}
// Executes fence.proxy.tensormap::generic.acquire.
void acquire_map(Warp& warp, const Operation& operation) {
  check_space_of_maps(warp, operation);
  sync_blocks(warp, operation);
}
// Decodes fence.proxy.tensormap::generic.acquire.scope [map], 128, or .release without operands.
Run fence_of_maps(Decoder& d) {
  const bool acquires = d.operands() != 0;
  d.operation.mode = acquires ? kAcquiresMap : kReleasesMaps;
  if (acquires) {
    d.need_operands(2);
    d.operation.src0 = d.address_value(0, Space::kGeneric);
    return acquire_map;
  }
  return sync_blocks;
}
// Decodes instructions that execute nothing, such as performance hints and griddepcontrol. The
// tools read the effects of griddepcontrol and fence.mbarrier_init from the instruction table.
Run hint(Decoder&) { return nothing; }

}  // namespace kernkit::simulator::ptx
