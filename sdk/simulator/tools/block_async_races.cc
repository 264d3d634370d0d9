// SPDX-License-Identifier: Apache-2.0
#include "tools/block_races.h"

#include <algorithm>

#include "ptx/machine/fault.h"
#include "ptx/machine/matrix_descriptor.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

void BlockRaces::issues(const Warp& warp, const Operation& operation, const IssuedCopy& copy) {
  if (checks_lanes_) order_.tick(warp.number);
  if (!copy.in_group && !copy.is_generic) check_init(warp, operation, copy);
  if (copy.map != 0) check_map(warp, operation, copy);
  uint32_t of_reads = 0, of_writes = 0;  // bulk group: completions of the copy's reads and writes
  if (copy.in_group) {
    const unsigned thread = thread_of(warp, copy.lane);
    AsyncOperations::Groups& groups = async_.groups(thread);
    groups.issued = groups.closed + 1;
    groups.operation = operation.number;
    of_reads =
        all_.order_.add_completion(CompletionKey::of_groups(number_, thread, true), groups.issued);
    of_writes =
        all_.order_.add_completion(CompletionKey::of_groups(number_, thread, false), groups.issued);
  }
  Now now{};
  AccessRecord record{};
  const CopiedBytes* previous = nullptr;
  for (const CopiedBytes& bytes : copy.bytes) {
    if (previous == nullptr || previous->block != bytes.block || previous->kind != bytes.kind) {
      uint32_t completion = bytes.kind == CopiedBytes::kReads ? of_reads : of_writes;
      if (!copy.in_group) {
        // A read of the source shares the completion of the last block whose shared memory the copy
        // writes.
        if (bytes.kind != CopiedBytes::kReads || previous == nullptr) {
          last_completion_ =
              all_.order_.add_completion(CompletionKey::of_mbarrier(number_, copy.mbarrier),
                                         LaunchOrder::Completion::kPending);
          async_.add(copy.number, {bytes.block, last_completion_});
        }
        completion = last_completion_;
      }
      record = async_record(warp, operation, kind_of(bytes.kind), completion);
      if (copy.is_generic) record.element_bytes = AccessRecord::kAsyncGeneric;
      memory_ = bytes.block == nullptr ? this : &all_.of_block(*bytes.block);
      now = begin_async(bytes.block != nullptr, record, static_cast<unsigned>(copy.lane));
      ordered_ = 0;
    }
    previous = &bytes;
    now.record = &record;
    if (bytes.block != nullptr) {
      check_bytes<true>(&now, bytes.at, bytes.bytes);
    } else {
      check_bytes<false>(&now, bytes.at, bytes.bytes);
    }
  }
  memory_ = this;
}

void BlockRaces::lands(uint64_t copy, const Block& to, const MbarrierPhase& mbarrier) {
  const uint64_t key =
      CompletionKey::of_mbarrier(all_.of_block(mbarrier.block).number_, mbarrier.at);
  async_.land(copy, to, [&](uint32_t completion) {
    all_.order_.complete(completion, key, static_cast<uint32_t>(mbarrier.phases + 1));
  });
}

void BlockRaces::waited(const Warp& warp, int lane, const Operation& operation,
                        const MbarrierPhase& mbarrier) {
  const RaceTraits& traits = all_.traits_[operation.number];
  note_phase(mbarrier.at);
  order_.acquire(warp.number, phases_[mbarrier.at].released, traits);
  order_.acquire_lanes(warp.number, 1u << lane, phases_[mbarrier.at].released, traits);
  order_.complete(warp.number, CompletionKey::of_mbarrier(number_, mbarrier.at),
                  static_cast<uint32_t>(mbarrier.phases));
}

void BlockRaces::ends() {
  check_groups();
  check_foreign();
}

AccessKind BlockRaces::kind_of(CopiedBytes::Kind kind) {
  return kind == CopiedBytes::kReads    ? AccessKind::kLoad
         : kind == CopiedBytes::kWrites ? AccessKind::kStore
                                        : AccessKind::kAtomic;
}

AccessRecord BlockRaces::async_record(const Warp& warp, const Operation& operation, AccessKind kind,
                                      uint32_t completion) const {
  return {all_.launch_,
          operation.number,
          number_,
          completion,
          static_cast<uint8_t>(warp.number),
          kind,
          ThreadScope::kNone,
          AccessRecord::kAsync};
}

BlockRaces::Now BlockRaces::begin_async(bool is_shared, const AccessRecord& record, unsigned lane) {
  uint32_t index;
  if (is_shared) {
    index = add_shared(record);
  } else {
    index = all_.cells_.add(record);
  }
  return {&record, GlobalCells::with_lane(index, static_cast<int>(lane)), lane, 0};
}

uint32_t BlockRaces::add_shared(const AccessRecord& record) {
  memory_->shared_records_.push_back(record);
  const auto index = static_cast<uint32_t>(memory_->shared_records_.size() - 1);
  if (memory_ != this || (record.is_async() && record.kind == AccessKind::kStore)) {
    memory_->foreign_.push_back(index);
  }
  return index;
}

void BlockRaces::wait_for_groups(const Warp& warp, int lane, const Operation& operation) {
  const unsigned thread = thread_of(warp, lane);
  AsyncOperations::Groups& groups = async_.groups(thread);
  const auto pending = static_cast<uint32_t>(std::min<int64_t>(operation.offset, groups.closed));
  const uint32_t complete = groups.closed - pending;
  groups.read = std::max(groups.read, complete);
  order_.complete(warp.number, CompletionKey::of_groups(number_, thread, true), complete);
  if (operation.mode == kOnlyReads) return;
  order_.complete(warp.number, CompletionKey::of_groups(number_, thread, false), complete);
}

void BlockRaces::issue_product(Warp& warp, const Operation& operation) {
  if (warp.mask != Warp::kAll) return;  // the operation reports a fault
  if (checks_lanes_) order_.tick(warp.number);
  WarpState& state = warps_[warp.number];
  const uint32_t group = async_.product_groups(warp.number) + 1;
  state.products.push_back({&operation, group, {}});
  if (state.product_group != group) {
    state.product_group = group;
    state.product_completion =
        all_.order_.add_completion(CompletionKey::of_products(number_, warp.number), group);
  }
  const auto p = WarpgroupProduct::unpack(operation.offset);
  const AccessRecord record =
      async_record(warp, operation, AccessKind::kLoad, state.product_completion);
  Now now = begin_async(true, record, 0);
  ordered_ = 0;
  const auto read = [&](uint32_t descriptor, bool transposed, uint32_t first, uint32_t count) {
    const MatrixDescriptor matrix(warp.lanes<uint64_t>(descriptor)[0]);
    each_unit(matrix, transposed, first, count, [&](uint32_t at, uint32_t, uint32_t) {
      check_bytes<true>(&now, at, MatrixDescriptor::kUnit);
    });
  };
  constexpr uint32_t kRows = 16;
  if (p.a_in_registers == 0) {
    read(operation.src0, p.a_transposed != 0, warp.number % kWarpsOfGroup * kRows, kRows);
  }
  read(operation.src1, p.b_transposed != 0, 0, 8u * p.columns);
}

void BlockRaces::wait_for_products(const Warp& warp, const Operation& operation) {
  const uint32_t closed = async_.product_groups(warp.number);
  const auto pending = static_cast<uint32_t>(std::min<int64_t>(operation.offset, closed));
  order_.complete(warp.number, CompletionKey::of_products(number_, warp.number), closed - pending);
  auto& products = warps_[warp.number].products;
  products.erase(std::remove_if(products.begin(), products.end(),
                                [&](const auto& item) { return item.group <= closed - pending; }),
                 products.end());
  for (auto& item : products) item.missed_wait = item.missed_wait || item.group > closed;
}

void BlockRaces::check_products(const Warp& warp, const Operation& operation) {
  if (all_.products_.names(operation.number)) check_registers(warp, operation);
  if (all_.fences_.concerns(operation.number)) check_fences(warp, operation);
}

void BlockRaces::check_fences(const Warp& warp, const Operation& operation) {
  using Lack = ProductFences::Lack;
  const ProductFences::Missing missing =
      all_.fences_.follow(operation, warp.mask, &warps_[warp.number].fences);
  if (missing.lack == Lack::kNothing) return;
  const std::string product = "wgmma.mma_async" + line_text(operation.number);
  const std::string earlier = missing.earlier == kNone ? "" : line_text(missing.earlier);
  std::string what;
  switch (missing.lack) {
    case Lack::kNothing:
    case Lack::kAnyFence: break;
    case Lack::kWrite: what = " after a write to its register" + earlier; break;
    case Lack::kRead: what = " after a read of its register" + earlier; break;
    case Lack::kShape: what = " after a product of another shape" + earlier; break;
    case Lack::kSums: what = " with a register of A that a product wrote" + earlier; break;
  }
  add_finding(missing.lack == Lack::kRead ? RaceLevel::kWarn : RaceLevel::kError, product,
              "no wgmma.fence" + what,
              location_text(block_, thread_of(warp, 0)) + product + what +
                  ", with no wgmma.fence " +
                  (missing.lack == Lack::kAnyFence ? "before the product" : "between"));
}

void BlockRaces::check_registers(const Warp& warp, const Operation& operation) {
  auto& products = warps_[warp.number].products;
  if (products.empty()) return;
  const ProductRegisters::Issued* found = all_.products_.find(operation, &products);
  if (found == nullptr) return;
  const std::string earlier = line_text(found->product->number), line = line_text(operation.number);
  add_finding(
      RaceLevel::kError, "wgmma.mma_async" + earlier, "access to a register" + line,
      location_text(block_, thread_of(warp, 0)) + "Access to a register" + line +
          " of wgmma.mma_async" + earlier +
          (found->missed_wait ? ", which is in no committed group at wgmma.wait_group; expected "
                                "wgmma.commit_group before the wait"
                              : ", with no wgmma.wait_group between"));
}

void BlockRaces::note_mbarrier(const Warp& warp, const Operation& operation,
                               const RaceTraits& traits, uint32_t at) {
  if (traits.access != AccessKind::kStore) return memory_->note_phase(at);
  const AccessRecord record{all_.launch_,
                            operation.number,
                            number_,
                            order_.time(warp.number),
                            static_cast<uint8_t>(warp.number),
                            traits.access};
  inits_[at] = {record, GlobalCells::with_lane(0, __builtin_ctz(warp.mask)), false};
  phases_[at] = {block_.mbarriers.phases(at), {}};
}

void BlockRaces::note_phase(uint32_t at) {
  const uint64_t phases = block_.mbarriers.phases(at);
  Phase& phase = phases_[at];
  if (phases == phase.phases) return;
  phase.phases = phases;
  phase.released = order_.released_at(location_in(*this, at));
}

void BlockRaces::fence_inits(const Warp& warp) {
  order_.fence_inits(warp.number);
  for (auto& [at, init] : inits_) {
    init.is_fenced =
        init.is_fenced || init.record.warp == warp.number ||
        order_.has_acquired(warp.number, init.record.block, init.record.warp, init.record.time);
  }
}

void BlockRaces::check_order_of_inits(const Warp& warp, const Operation& operation,
                                      const RaceTraits& traits, const Touched& touched) {
  if (traits.access == AccessKind::kStore) return;
  choose_memory(touched);
  each_bit(touched.lanes, [&](int lane) {
    const auto at = static_cast<uint32_t>(touched.at[lane]);
    const auto init = memory_->inits_.find(at);
    if (init == memory_->inits_.end()) return;
    const AccessRecord now{all_.launch_,
                           operation.number,
                           number_,
                           order_.time(warp.number),
                           static_cast<uint8_t>(warp.number),
                           traits.access,
                           traits.scope};
    report_init(init->second, now, GlobalCells::with_lane(0, lane), at);
  });
}

void BlockRaces::report_init(const Init& init, const AccessRecord& now, uint32_t id, uint32_t at) {
  const AccessRecord& before = init.record;
  if (before.block == now.block && before.warp == now.warp) return;
  if (order_.has_acquired(now.warp, before.block, before.warp, before.time)) return;
  const bool is_relaxed =
      order_.is_before_relaxed_arrival(now.warp, before.block, before.warp, before.time);
  const RaceReason reason = is_relaxed ? RaceReason::kRelaxed : RaceReason::kBarrier;
  const std::string bytes = " at byte " + std::to_string(at) + " of shared memory";
  add_finding(
      RaceLevel::kError, all_.cells_.pair_of("", before, now),
      start_text(now, id) + all_.cells_.race_text(before, init.id, now, bytes) + text_of(reason));
}

void BlockRaces::check_init(const Warp& warp, const Operation& operation, const IssuedCopy& copy) {
  const auto found = inits_.find(copy.mbarrier);
  if (found == inits_.end()) return;
  const Init& init = found->second;
  const AccessRecord now =
      async_record(warp, operation, AccessKind::kAtomic, LaunchOrder::Completion::kPending);
  const uint32_t id = GlobalCells::with_lane(0, copy.lane);
  report_init(init, now, id, copy.mbarrier);
  if (init.is_fenced) return;
  const std::string bytes = " at byte " + std::to_string(copy.mbarrier) + " of shared memory";
  add_finding(RaceLevel::kWarn, all_.cells_.pair_of("", init.record, now),
              start_text(now, id) + all_.cells_.race_text(init.record, init.id, now, bytes) +
                  ", with no fence.mbarrier_init or fence.proxy.async between");
}

void BlockRaces::fence_maps(Warp& warp, const Operation& operation, const RaceTraits& traits) {
  if (operation.mode == kCopiesMap) write_map(warp, operation);
  if (operation.mode != kAcquiresMap) order_.release_maps(warp.number);
  order_.fence(warp.number, traits);
  if (operation.mode != kAcquiresMap) return;
  const MapFence fence{warp.number, order_.time(warp.number), order_.released_maps(warp.number)};
  order_.tick(warp.number);
  each_bit(warp.mask, [&](int lane) {
    auto& fences = map_fences_[warp.lanes<uint64_t>(operation.src0)[lane]];
    if (!fences.empty() && fences.back().warp == fence.warp) fences.pop_back();
    fences.push_back(fence);
  });
}

void BlockRaces::write_map(Warp& warp, const Operation& operation) {
  const uint64_t at = warp.lanes<uint64_t>(operation.src0)[0];
  if (warp.mask != Warp::kAll || !is_valid(Space::kGlobal, at, kTensorMapBytes)) return;
  if (checks_lanes_) order_.tick(warp.number);
  const AccessRecord record{all_.launch_,
                            operation.number,
                            number_,
                            order_.time(warp.number),
                            static_cast<uint8_t>(warp.number),
                            AccessKind::kStore};
  Now now = begin_async(false, record, 0);
  ordered_ = 0;
  check_bytes<false>(&now, at, kTensorMapBytes);
}

void BlockRaces::check_map(const Warp& warp, const Operation& operation, const IssuedCopy& copy) {
  if (!is_valid(Space::kGlobal, copy.map, kTensorMapBytes) || is_constant(copy.map)) return;
  std::vector<const MapFence*> fences;  // fences that happened before the copy
  const auto found = map_fences_.find(copy.map);
  if (found != map_fences_.end()) {
    for (const MapFence& fence : found->second) {
      if (fence.warp == warp.number ||
          order_.has_acquired(warp.number, number_, fence.warp, fence.time)) {
        fences.push_back(&fence);
      }
    }
  }
  const AccessRecord record = async_record(warp, operation, AccessKind::kLoad, 0);
  const unsigned lane = static_cast<unsigned>(copy.lane);
  Now now{&record, GlobalCells::with_lane(0, copy.lane), lane, copy.map};
  bool is_written = false;
  for (uint64_t at = copy.map; at < copy.map + kTensorMapBytes && !now.reported;) {
    unsigned shift = RaceCells::kWord;
    const RaceCell* const cell = all_.cells_.at(at, &shift);
    for (const uint32_t before : {cell->written, cell->also_written}) {
      if (before == 0) continue;
      const AccessRecord& write = all_.cells_.instruction(before);
      if (write.launch != all_.launch_ || write.is_async()) continue;
      is_written = true;
      now.at = at;
      const RaceVerdict verdict = judge_map(write, now, fences);
      if (now.reported || !verdict.is_reported(all_.least_)) continue;
      report<false>(before, now, verdict);
      now.reported = true;
    }
    at += uint64_t{1} << shift;
  }
  if (is_written || !fences.empty()) return;
  const std::string line = line_text(operation.number);
  add_finding(RaceLevel::kWarn, "tensor map", "copy" + line,
              location_text(block_, thread_of(warp, copy.lane)) + "a copy" + line +
                  " reads a tensor map in global memory; expected fence.proxy.tensormap with "
                  ".acquire before, or a map among the kernel's parameters");
}

RaceVerdict BlockRaces::judge_map(const AccessRecord& write, const Now& now,
                                  const std::vector<const MapFence*>& fences) const {
  const unsigned warp = now.record->warp;
  const bool is_own = write.block == number_ && write.warp == warp;
  if (!is_own && !order_.has_acquired(warp, write.block, write.warp, write.time)) {
    return judge_.judge_order({write, 0}, {*now.record, now.lane});
  }
  for (const MapFence* fence : fences) {
    if (fence->released != nullptr && fence->released->has(write.block, write.warp, write.time))
      return {};
  }
  return {RaceVerdict::kError, RaceReason::kMaps};
}

bool BlockRaces::is_constant(uint64_t at) const {
  const std::vector<KernelVariable>& all = all_.instrumented_->kernel.variables;
  return std::any_of(all.begin(), all.end(), [&](const KernelVariable& variable) {
    return variable.is_constant && at >= variable.begin && at - variable.begin < variable.bytes;
  });
}

void BlockRaces::check_groups() {
  if (all_.least_ > RaceLevel::kWarn) return;
  for (const auto& [thread, groups] : async_.all_groups()) {
    if (groups.issued <= groups.read) continue;
    const std::string line = line_text(groups.operation);
    add_finding(RaceLevel::kWarn, "end of the block", "bulk copy" + line,
                location_text(block_, thread) + "the block ends, and a bulk copy" + line +
                    " may still read its shared memory; expected cp.async.bulk.wait_group.read "
                    "before the end");
  }
}

void BlockRaces::check_foreign() {
  for (const uint32_t index : foreign_) {
    const AccessRecord& record = shared_records_[index];
    bool is_ordered = false;
    for (unsigned w = 0; w < warps_.size() && !is_ordered; ++w) {
      is_ordered = record.is_async()
                       ? judge_.has_completed(w, record)
                       : order_.has_acquired(w, record.block, record.warp, record.time);
    }
    if (is_ordered) continue;
    const GlobalCells& cells = all_.cells_;
    const std::string line = line_text(record.operation);
    const bool is_own = record.block == number_;
    add_finding(RaceLevel::kError, "end of the block", cells.access_text(record) + line,
                location_text(block_, 0) + "the block ends, and nothing orders an earlier " +
                    cells.access_text(record) + " to its shared memory by " +
                    (is_own ? std::string()
                            : cells.location_text(record, GlobalCells::with_lane(0, 0))
                                  .substr(0, cells.location_text(record, 0).find(", thread"))) +
                    (is_own ? "warp " + std::to_string(record.warp) : "") + line +
                    " before the end");
  }
}

void BlockRaces::add_finding(RaceLevel level, const std::string& first, const std::string& second,
                             const std::string& sentence) {
  add_finding(level, FindingLedger::Pair{kernel_name(), first, second}, sentence);
}

void BlockRaces::add_finding(RaceLevel level, FindingLedger::Pair pair,
                             const std::string& sentence) {
  if (level < all_.least_) return;
  std::get<0>(pair) = kernel_name();
  FindingCount& finding = all_.races_.at(level)[pair];
  if (++finding.count > 1 && finding.block <= number_) return;
  finding.block = number_;
  finding.level = level;
  finding.sentence = sentence;
}

}  // namespace kernkit::simulator::ptx
