// SPDX-License-Identifier: Apache-2.0
#include "tools/initcheck.h"

#include <algorithm>
#include <cstring>

#include "ptx/machine/window.h"
#include "ptx/simd/fragment_layout.h"
#include "tools/accesses.h"
#include "tools/undefined_memory.h"
#include "tools/undefined_uses.h"

namespace kernkit::simulator::ptx {

class InitWatch::OfBlock : public BlockHooks {
 public:
  OfBlock(InitWatch& all, Block& block)
      : all_(all), block_(block), uses_(block, all.instrumented_), memory_(block, &uses_) {
    for (size_t i = 0; i < block.warps.size(); ++i) registers_.emplace_back(block.launch.kernel);
  }
  ~OfBlock() override { uses_.add_to(all_.ledgers_); }

  void starts() override {
    for (UndefinedBits& undefined : registers_) undefined.start();
    uses_.start();
    memory_.start();
  }

  void before(Warp& warp, const Operation& operation) override {
    const BitPlan& plan = all_.plans_[operation.number];
    UndefinedBits& bits = registers_[warp.number];
    use(warp, operation, operation.guard, warp.active, kBranches);
    switch (plan.rule) {
      case Definedness::kLoad:
      case Definedness::kStore:
      case Definedness::kAtomic:
      case Definedness::kMatrix:
      case Definedness::kFragment:
      case Definedness::kArrive:
      case Definedness::kSums:
      case Definedness::kCopy: {
        const char* what = plan.rule == Definedness::kAtomic                ? kUpdates
                           : plan.stores || plan.rule == Definedness::kCopy ? kStores
                                                                            : kLoads;
        for (const uint32_t at : plan.selectors) use(warp, operation, at, warp.mask, what);
        return memory_.access(plan, warp, operation, &bits);
      }
      case Definedness::kCommit:
      case Definedness::kWait:
      case Definedness::kWaitAll:
      case Definedness::kReturn: return memory_.change(plan, warp, operation);
      default: break;
    }
    for (const uint32_t at : plan.selectors) use(warp, operation, at, warp.mask, kMembers);
    follow(plan, warp, operation, &bits, &uses_);
  }

  void copied_into_shared(uint32_t at, uint32_t bytes, uint64_t from) override {
    memory_.copy_into_shared(at, bytes, from);
  }
  void copied_into_global(const Warp& warp, int lane, const Operation& operation, uint64_t at,
                          uint32_t bytes, uint32_t from) override {
    memory_.copy_into_global(warp, lane, operation, at, bytes, from);
  }

  void decides(Warp& warp, const Operation& operation, uint32_t lanes) override {
    use(warp, operation, operation.guard, warp.active, kBranches);
    switch (operation.flow) {
      case Flow::kTable: return use(warp, operation, operation.src0, lanes, kBranches);
      case Flow::kCall: return use(warp, operation, operation.src0, lanes, kCalls);
      case Flow::kReturn:  // restores the caller's registers, which count as defined
        for (const Slot& slot : block_.launch.kernel.slots) {
          registers_[warp.number].define(slot.at, lanes, warp.live);
        }
        return;
      case Flow::kWarpSync: return use(warp, operation, operation.members, lanes, kMembers);
      case Flow::kBarrier:
        for (const uint32_t at : {operation.src0, operation.src1, operation.src2}) {
          use(warp, operation, at, lanes, kWaits);
        }
        for (const uint32_t at : {operation.dst, operation.dst_predicate}) {
          if (at != kNone) registers_[warp.number].define(at, lanes, warp.live);
        }
        return;
      default: return;
    }
  }

 private:
  static constexpr const char* kBranches = "Uninitialized bits decide a branch";
  static constexpr const char* kLoads = "Uninitialized address of a read";
  static constexpr const char* kStores = "Uninitialized address of a write";
  static constexpr const char* kUpdates = "Uninitialized address of an atomic";
  static constexpr const char* kMembers = "Uninitialized mask of lanes";
  static constexpr const char* kWaits = "Uninitialized operand of a barrier";
  static constexpr const char* kCalls = "Uninitialized address of a function";

  // Reports the undefined bits of a register that `lanes` use. The bits then count as defined, so
  // that later uses are not reported.
  void use(const Warp& warp, const Operation& operation, uint32_t at, uint32_t lanes,
           const char* what) {
    UndefinedBits& bits = registers_[warp.number];
    if (!bits.any(at)) return;
    const uint32_t undefined_lanes = bits.lanes(at, lanes);
    for (uint32_t remaining = undefined_lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      uses_.add(warp, lane, operation, what, bits.origin(at, lane));
    }
    if (undefined_lanes != 0) bits.define(at, undefined_lanes, warp.live);
  }

  InitWatch& all_;
  Block& block_;
  std::vector<UndefinedBits> registers_;  // undefined bits of each warp's registers
  UndefinedUses uses_;
  UndefinedMemory memory_;
};

namespace {

const std::vector<BitPlan>& plans_for(const InstrumentedKernel& instrumented) {
  if (instrumented.definedness == nullptr) {
    instrumented.definedness =
        std::make_shared<std::vector<BitPlan>>(plans_of(instrumented.kernel));
  }
  return *static_cast<const std::vector<BitPlan>*>(instrumented.definedness.get());
}

}  // namespace

InitWatch::InitWatch(const InstrumentedKernel& instrumented, std::vector<InitLedger*> ledgers)
    : plans_(plans_for(instrumented)), instrumented_(instrumented), ledgers_(std::move(ledgers)) {}

std::unique_ptr<BlockHooks> InitWatch::block_hooks(Block& block) {
  return std::make_unique<OfBlock>(*this, block);
}

}  // namespace kernkit::simulator::ptx
