// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", and
// cp.async.mbarrier.arrive.
#include "ptx/machine/mbarriers.h"

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kObjectBytes = 8;

// Bits of Operation::mode of mbarrier.arrive and mbarrier.arrive_drop.
constexpr uint8_t kExpects = 1, kDrops = 2, kCompletesNoPhase = 4;
// Operation::mode of an mbarrier.test_wait or mbarrier.try_wait with .parity.
constexpr uint8_t kOfParity = 1;

// Calls visit(lane, mbarriers, offset) for each active lane: the mbarriers of the block whose
// shared memory contains the lane's object, and the offset of the object in this memory.
template <class Visit>
void each_object(Warp& warp, const Operation& operation, Touch touch, const Visit& visit) {
  LanePointers pointers;
  find_pointers(warp, operation, kObjectBytes, touch, &pointers);
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    const SharedLocation location = shared_location(warp, pointers.at[lane]);
    if (location.block == nullptr) {
      fault(warp, lane, operation, "the mbarrier is not in shared memory", cudaErrorIllegalAddress);
    }
    visit(lane, location.block->mbarriers, location.at);
  }
}

void check(const Warp& warp, int lane, const Operation& operation, const std::string& why) {
  if (!why.empty()) {
    fault(warp, lane, operation, function_text(warp.block->launch.kernel, operation) + ": " + why);
  }
}

uint32_t word(Warp& warp, uint32_t at, int lane) { return warp.lanes<uint32_t>(at)[lane]; }

// Executes mbarrier.init. If several lanes initialise one object with the same count, initialises
// the object once.
void init(Warp& warp, const Operation& operation) {
  struct Initialised {
    const Mbarriers* block;
    uint32_t at, count;
  };
  Initialised initialised[32];
  int size = 0;
  each_object(warp, operation, Touch::kStores, [&](int lane, Mbarriers& all, uint32_t at) {
    const uint32_t count = word(warp, operation.list[0], lane);
    for (int i = 0; i < size; ++i) {
      const Initialised& earlier = initialised[i];
      if (earlier.block != &all || earlier.at != at) continue;
      if (earlier.count == count) return;
      check(warp, lane, operation,
            "lanes initialise the mbarrier at byte " + std::to_string(at) +
                " of shared memory with the counts " + std::to_string(earlier.count) + " and " +
                std::to_string(count) + "; expected one count");
    }
    check(warp, lane, operation, all.init(at, count));
    initialised[size++] = {&all, at, count};
  });
}

void invalidate(Warp& warp, const Operation& operation) {
  each_object(warp, operation, Touch::kStores, [&](int lane, Mbarriers& all, uint32_t at) {
    check(warp, lane, operation, all.invalidate(at));
  });
}

void expect_bytes(Warp& warp, const Operation& operation) {
  each_object(warp, operation, Touch::kUpdates, [&](int lane, Mbarriers& all, uint32_t at) {
    check(warp, lane, operation, all.expect(at, word(warp, operation.src1, lane)));
  });
}

void complete_bytes(Warp& warp, const Operation& operation) {
  each_object(warp, operation, Touch::kUpdates, [&](int lane, Mbarriers& all, uint32_t at) {
    check(warp, lane, operation, all.complete(at, word(warp, operation.src1, lane)));
  });
}

// Executes mbarrier.arrive and mbarrier.arrive_drop. The result is the state before the arrival,
// which contains the number of the phase.
void arrive(Warp& warp, const Operation& operation) {
  each_object(warp, operation, Touch::kUpdates, [&](int lane, Mbarriers& all, uint32_t at) {
    const uint32_t operand = word(warp, operation.src1, lane);
    const bool expects = (operation.mode & kExpects) != 0;
    const uint32_t count = expects ? 1 : operand;
    if (expects) check(warp, lane, operation, all.expect(at, operand));
    MbarrierState before;
    check(warp, lane, operation, all.read(at, &before));
    const uint64_t phases = all.completed_phases();
    check(warp, lane, operation, all.arrive(at, count, (operation.mode & kDrops) != 0));
    if ((operation.mode & kCompletesNoPhase) != 0 && all.completed_phases() != phases) {
      check(warp, lane, operation, "the arrival completes the phase, which .noComplete excludes");
    }
    if (operation.dst != kNone) warp.lanes<uint64_t>(operation.dst)[lane] = before.pack();
  });
}

// Executes cp.async.mbarrier.arrive: adds asynchronous work that completes the lane's earlier
// copies and then arrives.
void arrive_after_copies(Warp& warp, const Operation& operation) {
  each_object(warp, operation, Touch::kUpdates, [&](int lane, Mbarriers& all, uint32_t at) {
    const bool is_counted = operation.mode != 0;  // .noinc: mbarrier.init counted the arrival
    check(warp, lane, operation, is_counted ? "" : all.add_pending(at));
    const uint32_t copies = warp.copies.added(lane);
    warp.block->asynchronous.add([&warp, &operation, &all, lane, at, copies] {
      warp.copies.complete_first(lane, copies);
      check(warp, lane, operation, all.arrive(at, 1, false));
      if (warp.block->hooks != nullptr) warp.block->hooks->counted(at);
    });
  });
}

// Records that a lane has waited for the phase before the current phase. The mbarrier of
// mbarrier.test_wait and mbarrier.try_wait is always in the block's own shared memory.
void note_wait(Warp& warp, int lane, const Operation& operation, Mbarriers& all, uint32_t at) {
  Block& block = *warp.block;
  all.note_wait(at, warp.number);
  if (block.hooks == nullptr) return;
  block.hooks->waited(warp, lane, operation, {block, at, all.phases(at)});
}

// Executes mbarrier.test_wait and mbarrier.try_wait. PTX ISA: the state or the parity must belong
// to the current phase or to the preceding phase.
void test(Warp& warp, const Operation& operation) {
  uint32_t complete = 0;
  each_object(warp, operation, Touch::kLoads, [&](int lane, Mbarriers& all, uint32_t at) {
    MbarrierState now;
    check(warp, lane, operation, all.read(at, &now));
    uint32_t phase;
    if (operation.mode == kOfParity) {
      phase = word(warp, operation.src1, lane);
      if (phase == UINT32_MAX) phase = 1;  // Triton sign-extends a parity of one bit
      if (phase > 1) {
        check(warp, lane, operation,
              "the parity is " + std::to_string(phase) + "; expected 0 or 1");
      }
      if ((now.phase & 1) == phase) return;
      note_wait(warp, lane, operation, all, at);
      complete |= kLane[lane];
      return;
    }
    phase = MbarrierState::unpack(warp.lanes<uint64_t>(operation.src1)[lane]).phase;
    if (now.phase == phase) return;
    if ((now.phase & 3) != ((phase + 1) & 3)) {
      check(warp, lane, operation,
            "the state is of an earlier phase; expected a state of the current or the preceding "
            "phase");
    }
    note_wait(warp, lane, operation, all, at);
    complete |= kLane[lane];
  });
  warp.set_predicate(operation.dst_predicate, complete);
}

void pending_count(Warp& warp, const Operation& operation) {
  const auto* states = warp.lanes<uint64_t>(operation.src0);
  auto* counts = warp.results<uint32_t>(operation.dst);
  for (int l = 0; l < 32; ++l) counts[l] = MbarrierState::unpack(states[l]).pending;
  warp.keep<uint32_t>(operation.dst);
}

// Decodes operand i, the address of an mbarrier object: a shared address or a generic address.
void object(Decoder& d, size_t i) {
  d.operation.bytes = kObjectBytes;
  d.address(i, d.space());
}

// Decodes mbarrier.arrive{.expect_tx|.noComplete} state, [a]{, count or bytes}.
Run decode_arrive(Decoder& d, uint8_t mode) {
  if (d.has("expect_tx")) mode |= kExpects;
  if (d.has("noComplete")) mode |= kCompletesNoPhase;
  d.operation.mode = mode;
  const size_t first = d.operand(0).kind == Operand::kAddress ? 0 : 1;  // the state is optional
  if (first == 1 && d.operand(0).kind != Operand::kNothing) {
    d.operation.dst = d.to(0, Type::kB64);
  }
  object(d, first);
  const bool has_operand = d.operands() == first + 2;
  if (!has_operand) d.need_operands(first + 1);
  if (!has_operand && (mode & (kExpects | kCompletesNoPhase)) != 0) return nullptr;
  d.operation.src1 = has_operand ? d.from(first + 1, Type::kU32) : d.constant(1, Type::kU32);
  return arrive;
}

// Decodes mbarrier.test_wait p, [a], state or parity, and mbarrier.try_wait, which can have a time
// limit as a fourth operand.
Run decode_wait(Decoder& d, bool waits) {
  if (waits) d.operation.flow = Flow::kTryWait;
  if (!waits || d.operands() != 4) d.need_operands(3);
  d.operation.dst_predicate = d.to(0, Type::kPred);
  object(d, 1);
  if (d.has("parity")) {
    d.operation.mode = kOfParity;
    d.operation.src1 = d.from(2, Type::kU32);
  } else {
    d.operation.src1 = d.from(2, Type::kB64);
  }
  if (d.operands() == 4) d.from(3, Type::kU32);
  return test;
}

}  // namespace

Run mbarrier(Decoder& d) {
  d.type();
  if (d.has("pending_count")) {
    d.need_operands(2);
    d.operation.dst = d.to(0, Type::kU32);
    d.operation.src0 = d.from(1, Type::kB64);
    return pending_count;
  }
  if (d.has("arrive")) return decode_arrive(d, 0);
  if (d.has("arrive_drop")) return decode_arrive(d, kDrops);
  if (d.has("test_wait")) return decode_wait(d, false);
  if (d.has("try_wait")) return decode_wait(d, true);
  if (d.has("inval")) {
    d.need_operands(1);
    object(d, 0);
    d.operation.count = 1;
    d.operation.list[0] = d.constant(0, Type::kU32);
    return invalidate;
  }
  d.need_operands(2);
  object(d, 0);
  if (d.has("init")) {
    d.operation.count = 1;
    d.operation.list[0] = d.from(1, Type::kU32);
    return init;
  }
  d.operation.src1 = d.from(1, Type::kU32);
  return d.has("expect_tx") ? expect_bytes : d.has("complete_tx") ? complete_bytes : nullptr;
}

// Decodes cp.async.mbarrier.arrive{.noinc} [a].
Run arrive_of_copies(Decoder& d) {
  if (!d.has("async") || !d.has("mbarrier") || !d.has("arrive")) return nullptr;
  d.type();
  d.operation.mode = d.has("noinc") ? 1 : 0;
  d.need_operands(1);
  object(d, 0);
  return arrive_after_copies;
}

}  // namespace kernkit::simulator::ptx
