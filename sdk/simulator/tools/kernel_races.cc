// SPDX-License-Identifier: Apache-2.0
#include "tools/kernel_races.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/matrix_descriptor.h"
#include "ptx/simd/fragment_layout.h"
#include "schedule/schedule.h"
#include "tools/accesses.h"
#include "tools/async_operations.h"
#include "tools/pending_copies.h"
#include "tools/race_verdict.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kMostBytes = 32;  // largest access of a lane [bytes]

uint8_t element_bytes_of(Type type) {
  switch (type) {
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kU16x2:
    case Type::kS16x2: return 2;
    case Type::kE4M3x2:
    case Type::kE5M2x2: return 1;
    case Type::kF32x2: return 4;
    default: return static_cast<uint8_t>(size_of(type));
  }
}

}  // namespace

KernelRaces::Traits KernelRaces::traits_of(const Operation& operation, const Origin& origin) {
  Traits traits;
  if (origin.instruction == nullptr) return traits;
  traits.acquires = origin.acquires();
  traits.releases = origin.releases();
  switch (origin.instruction->definedness) {
    case Definedness::kCommit: traits.does = Traits::kCommits; return traits;
    case Definedness::kWait: traits.does = Traits::kWaitsForCopies; return traits;
    case Definedness::kWaitAll: traits.does = Traits::kWaitsForAllCopies; return traits;
    default: break;
  }
  if (origin.has_effect(Effect::kWaitsForGrids)) traits.does = Traits::kWaitsForGrids;
  if (origin.has_effect(Effect::kReleasesGrids)) traits.does = Traits::kReleasesGrids;
  static constexpr struct {
    Effect effect;
    Traits::Does does;
  } kEffects[] = {{Effect::kFencesProxies, Traits::kFencesProxies},
                  {Effect::kFencesInits, Traits::kFencesInits},
                  {Effect::kCommitsCopies, Traits::kCommitsBulkCopies},
                  {Effect::kWaitsForCopies, Traits::kWaitsForBulkCopies},
                  {Effect::kIssuesProducts, Traits::kIssuesProducts},
                  {Effect::kCommitsProducts, Traits::kCommitsProducts},
                  {Effect::kWaitsForProducts, Traits::kWaitsForProducts}};
  for (const auto& item : kEffects) {
    if (origin.has_effect(item.effect)) traits.does = item.does;
  }
  traits.fence_scope = origin.fence_scope();
  if (traits.fence_scope != ThreadScope::kNone) traits.does = Traits::kFences;
  traits.access = origin.access;
  if (origin.access == AccessKind::kNone) return traits;
  traits.does = Traits::kAccesses;
  traits.completes_copies = origin.instruction->definedness == Definedness::kArrive;
  traits.scope = origin.strong_scope();
  traits.element_bytes = element_bytes_of(origin.type);
  traits.is_cas = origin.access == AccessKind::kAtomic && operation.src2 != kNone;
  traits.is_reduction = std::string_view(origin.instruction->name) == "red";
  traits.is_mbarrier =
      traits.completes_copies || std::string_view(origin.instruction->name) == "mbarrier";
  return traits;
}

class KernelRaces::OfBlock : public BlockHooks {
 public:
  OfBlock(KernelRaces& all, Block& block)
      : all_(all),
        block_(block),
        of_lanes_(all.least_ <= RaceLevel::kWarn),
        has_products_(all.products_.any()),
        order_(all.order_),
        warps_(block.warps.size()),
        old_(size_t{kMostTouchedOfAll} * 32 * kMostBytes) {
    for (OfWarp& warp : warps_) {
      warp.records.resize(all.num_accesses_);
      warp.shared_records.resize(all.num_accesses_);
    }
    all_.blocks_[&block] = this;
    if (all_.is_async_) order_.note_barriers();
  }
  ~OfBlock() override {
    end_block();
    all_.blocks_.erase(&block_);
  }

  void starts() override {
    end_block();
    runs_ = true;
    const dim3 grid = block_.launch.grid;
    number_ =
        block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
    order_.start(number_, cluster_of(number_), warps_.size(), of_lanes_);
    for (OfWarp& warp : warps_) {
      warp.copies = {};
      warp.products.clear();
      warp.fences.start();
      warp.product_group = 0;
    }
    async_.start();
    inits_.clear();
    map_fences_.clear();
    phases_.clear();
    foreign_.clear();
    shared_cells_.reset(block_.shared.size());
    shared_records_.resize(1);
    readers_.resize(1);
    same_value_.clear();
    observers_.clear();
  }
  void synchronises(const Warp& warp, uint32_t lanes) override {
    order_.synchronise(warp.number, lanes);
  }
  void arrives(const Warp& warp, uint32_t barrier, bool only) override {
    order_.arrive(warp.number, barrier, only);
  }
  void arrives_at_cluster(const Warp& warp, bool releases) override {
    order_.arrive_at_cluster(warp.number, releases);
  }
  void leaves_cluster_barrier(const Warp& warp) override {
    order_.leave_cluster_barrier(warp.number);
  }
  void opens(uint32_t barrier) override {
    if (barrier == Block::kClusterBarrier) return order_.open_cluster();
    order_.open(barrier);
  }

  void before(Warp& warp, const Operation& operation) override {
    const Traits& traits = all_.traits_[operation.number];
    touched_count_ = 0;
    if (has_products_) check_products(warp, operation);
    if (traits.does == Traits::kNothing) return;
    if (traits.does != Traits::kAccesses) return note(warp, operation, traits);
    if (traits.completes_copies) wait_for_all_copies(warp);
    if (traits.access == AccessKind::kCopy) check_source(warp, operation, traits);
    touched_count_ = find_touched_of_all(warp, operation, touched_);
    for (int i = 0; i < touched_count_; ++i) {
      if (traits.is_mbarrier && touched_[i].space == Space::kShared) {
        check_order_of_inits(warp, operation, traits, touched_[i]);
      }
      if (traits.access == AccessKind::kLoad) {
        check(warp, operation, traits, traits.access, touched_[i], nullptr);
      } else {
        keep_old(touched_[i], operation.bytes, &old_[size_t{32} * kMostBytes * i]);
      }
    }
    if (traits.access == AccessKind::kLoad) touched_count_ = 0;
  }

  // Compares the memory with its bytes before the store, to find stores that change nothing.
  void after(Warp& warp, const Operation& operation) override {
    if (touched_count_ != 0) check_stores(warp, operation);
  }
  __attribute__((noinline)) void check_stores(Warp& warp, const Operation& operation) {
    const Traits& traits = all_.traits_[operation.number];
    for (int i = 0; i < touched_count_; ++i) {
      check(warp, operation, traits, traits.access, touched_[i],
            &old_[size_t{32} * kMostBytes * i]);
      if (!traits.is_mbarrier || touched_[i].space != Space::kShared) continue;
      each_lane_of(touched_[i], [&](int lane) {
        note_mbarrier(warp, operation, traits, static_cast<uint32_t>(touched_[i].at[lane]));
      });
    }
  }
  void leaves_out(Warp& warp, const Operation& operation) override { after(warp, operation); }

  void issues(const Warp& warp, const Operation& operation, const IssuedCopy& copy) override {
    if (of_lanes_) order_.tick(warp.number);
    if (!copy.in_group && !copy.is_generic) check_init(warp, operation, copy);
    if (copy.map != 0) check_map(warp, operation, copy);
    uint32_t of_reads = 0, of_writes = 0;  // bulk group: completions of the copy's reads and writes
    if (copy.in_group) {
      const unsigned thread = warp.number * 32 + static_cast<unsigned>(copy.lane);
      AsyncOperations::Groups& groups = async_.groups(thread);
      groups.issued = groups.closed + 1;
      groups.operation = operation.number;
      of_reads = all_.order_.add_completion(CompletionKey::of_groups(number_, thread, true),
                                            groups.issued);
      of_writes = all_.order_.add_completion(CompletionKey::of_groups(number_, thread, false),
                                             groups.issued);
    }
    Now now{};
    AccessRecord record{};
    const CopiedBytes* previous = nullptr;
    for (const CopiedBytes& bytes : copy.bytes) {
      if (previous == nullptr || previous->block != bytes.block || previous->kind != bytes.kind) {
        uint32_t completion = bytes.kind == CopiedBytes::kReads ? of_reads : of_writes;
        if (!copy.in_group) {
          // A read of global memory shares the completion of the last block whose shared memory the
          // copy writes.
          if (bytes.block != nullptr || previous == nullptr) {
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
  void lands(uint64_t copy, const Block& to, const MbarrierPhase& mbarrier) override {
    const uint64_t key =
        CompletionKey::of_mbarrier(all_.of_block(mbarrier.block).number_, mbarrier.at);
    async_.land(copy, to, [&](uint32_t completion) {
      all_.order_.complete(completion, key, static_cast<uint32_t>(mbarrier.phases + 1));
    });
  }
  void counted(uint32_t mbarrier) override { note_phase(mbarrier); }
  void waited(const Warp& warp, const Operation& operation,
              const MbarrierPhase& mbarrier) override {
    const Traits& traits = all_.traits_[operation.number];
    note_phase(mbarrier.at);
    order_.acquire(warp.number, phases_[mbarrier.at].released, traits);
    order_.acquire_lanes(warp.number, warp.mask, phases_[mbarrier.at].released, traits);
    order_.complete(warp.number, CompletionKey::of_mbarrier(number_, mbarrier.at),
                    static_cast<uint32_t>(mbarrier.phases));
  }
  void ends() override {
    check_groups();
    check_foreign();
  }

 private:
  struct OfWarp {
    // The last record of each operation that accesses memory. If a warp runs an operation again at
    // the same time of its clock, the record is used again.
    std::vector<uint32_t> records, shared_records;
    PendingCopies copies;
    std::vector<ProductRegisters::Issued> products;      // issued products that are still pending
    uint32_t product_group = 0, product_completion = 0;  // group and completion of the last product
    ProductFences::State fences;
  };
  // The number of completed phases of an mbarrier when the mbarrier's releases were last recorded,
  // and the recorded releases.
  struct Phase {
    uint64_t phases = 0;
    BlockOrder::Fences released;
  };
  // The initialisation of an mbarrier.
  struct Init {
    AccessRecord record;
    uint32_t id;
    bool is_fenced;
  };
  // A fence.proxy.tensormap with .acquire for a tensor map: its time, and the clock of the accesses
  // before the releases of tensor maps that happened before the fence.
  struct MapFence {
    unsigned warp;
    uint32_t time;
    SharedClock released;
  };
  // The access of one lane to one cell that is being checked.
  struct Now {
    const AccessRecord* record;
    uint32_t id;
    unsigned lane;
    uint64_t at;
    bool reported = false;  // whether a race of this access was reported
    // Whether the access is an atomic that reads the last write. The last write then precedes the
    // accesses that follow the atomic (observation order). If the last write is an atomic as well,
    // the write that this atomic read also precedes the accesses, and so on along the chain of
    // atomics.
    bool observes = false;
  };
  // The reads of a word of shared memory by each warp of the cluster: first, for all warps, a read
  // that is not ordered before any later read of the warp; then, for all warps, the last read.
  using Readers = std::vector<uint32_t>;
  // Flag in RaceCell::last_read: the remaining bits are an index into readers_.
  static constexpr uint32_t kList = uint32_t{1} << 31;

  void note(Warp& warp, const Operation& operation, const Traits& traits) {
    OfWarp& state = warps_[warp.number];
    switch (traits.does) {
      case Traits::kFences:
        if (operation.mode != 0) return fence_maps(warp, operation, traits);
        return order_.fence(warp.number, traits);
      case Traits::kWaitsForGrids:
        if (!all_.may_overlap_) return;
        order_.wait_for_earlier_work(warp.number);
        waits_ = true;
        return;
      case Traits::kReleasesGrids:
        triggers_first_ |= all_.may_overlap_ && !order_.is_after_earlier_work(warp.number);
        return;
      case Traits::kCommits: return state.copies.commit(warp.mask);
      case Traits::kWaitsForCopies:
        return wait_for_copies(warp, static_cast<uint64_t>(operation.offset));
      case Traits::kWaitsForAllCopies: return wait_for_all_copies(warp);
      case Traits::kFencesProxies:
        if ((operation.mode & kFencesShared) != 0) fence_inits(warp);
        return order_.fence_proxies(warp.number, operation.mode);
      case Traits::kFencesInits: return fence_inits(warp);
      case Traits::kCommitsBulkCopies:
        each_bit(warp.mask, [&](int lane) { ++async_.groups(thread_of(warp, lane)).closed; });
        return;
      case Traits::kWaitsForBulkCopies:
        each_bit(warp.mask, [&](int lane) { wait_for_groups(warp, lane, operation); });
        return;
      case Traits::kIssuesProducts: return issue_product(warp, operation);
      case Traits::kCommitsProducts: ++async_.product_groups(warp.number); return;
      case Traits::kWaitsForProducts: return wait_for_products(warp, operation);
      default: return;
    }
  }
  template <class Visit>
  static void each_bit(uint32_t mask, const Visit& visit) {
    for (uint32_t remaining = mask; remaining != 0; remaining &= remaining - 1) {
      visit(__builtin_ctz(remaining));
    }
  }
  template <class Visit>
  static void each_lane_of(const Touched& touched, const Visit& visit) {
    each_bit(touched.lanes, visit);
  }
  static unsigned thread_of(const Warp& warp, int lane) {
    return warp.number * 32 + static_cast<unsigned>(lane);
  }

  // Asynchronous operations:
  static AccessKind kind_of(CopiedBytes::Kind kind) {
    return kind == CopiedBytes::kReads    ? AccessKind::kLoad
           : kind == CopiedBytes::kWrites ? AccessKind::kStore
                                          : AccessKind::kAtomic;
  }
  AccessRecord async_record(const Warp& warp, const Operation& operation, AccessKind kind,
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
  // Adds a record of an access to the shared memory of the block memory_, or to global memory.
  // Returns the access by `lane`; the caller sets its address.
  Now begin_async(bool is_shared, const AccessRecord& record, unsigned lane) {
    uint32_t index;
    if (is_shared) {
      index = add_shared(record);
    } else {
      index = all_.cells_.add(record);
    }
    return {&record, GlobalCells::with_lane(index, static_cast<int>(lane)), lane, 0};
  }
  uint32_t add_shared(const AccessRecord& record) {
    memory_->shared_records_.push_back(record);
    const auto index = static_cast<uint32_t>(memory_->shared_records_.size() - 1);
    if (memory_ != this || (record.is_async() && record.kind == AccessKind::kStore)) {
      memory_->foreign_.push_back(index);
    }
    return index;
  }
  // Compares an access to `bytes` bytes from `at` on with the earlier accesses, in pieces of at
  // most 256 bytes: the cells of global memory are adjacent within a page only.
  template <bool kShared>
  void check_bytes(Now* now, uint64_t at, uint32_t bytes) {
    constexpr uint64_t kPiece = 256;
    for (uint64_t next; bytes != 0; at = next) {
      next = std::min(at + bytes, (at / kPiece + 1) * kPiece);
      const auto count = static_cast<uint32_t>(next - at);
      bytes -= count;
      unsigned shift = RaceCells::shift_of(at, count);
      RaceCell* cell;
      if constexpr (kShared) {
        if (!is_valid(Space::kShared, at, count)) return;
        cell = memory_->shared_cells_.at(at, shift);
        shift = memory_->shared_cells_.shift();
      } else {
        cell = all_.cells_.at(at, &shift);
      }
      const uint32_t step = 1u << shift;
      for (now->at = at; now->at < next; ++cell) {
        const uint64_t cell_at = now->at;
        if (now->record->kind == AccessKind::kLoad) {
          load<kShared>(cell, now);
        } else {
          store<kShared>(cell, now, 0, step);
        }
        now->at = cell_at + step;
      }
    }
  }
  void wait_for_groups(const Warp& warp, int lane, const Operation& operation) {
    const unsigned thread = thread_of(warp, lane);
    AsyncOperations::Groups& groups = async_.groups(thread);
    const auto pending = static_cast<uint32_t>(std::min<int64_t>(operation.offset, groups.closed));
    const uint32_t complete = groups.closed - pending;
    groups.read = std::max(groups.read, complete);
    order_.complete(warp.number, CompletionKey::of_groups(number_, thread, true), complete);
    if (operation.mode == kOnlyReads) return;
    order_.complete(warp.number, CompletionKey::of_groups(number_, thread, false), complete);
  }
  // Records that a warp issues a wgmma.mma_async, and checks the warp's reads of shared memory: its
  // 16 rows of A, unless A is in registers, and all of B.
  void issue_product(Warp& warp, const Operation& operation) {
    if (warp.mask != Warp::kAll) return;  // the operation reports a fault
    if (of_lanes_) order_.tick(warp.number);
    OfWarp& state = warps_[warp.number];
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
  void wait_for_products(const Warp& warp, const Operation& operation) {
    const uint32_t closed = async_.product_groups(warp.number);
    const auto pending = static_cast<uint32_t>(std::min<int64_t>(operation.offset, closed));
    order_.complete(warp.number, CompletionKey::of_products(number_, warp.number),
                    closed - pending);
    auto& products = warps_[warp.number].products;
    products.erase(std::remove_if(products.begin(), products.end(),
                                  [&](const auto& item) { return item.group <= closed - pending; }),
                   products.end());
  }
  void check_products(const Warp& warp, const Operation& operation) {
    if (all_.products_.names(operation.number)) check_registers(warp, operation);
    if (all_.fences_.concerns(operation.number)) check_fences(warp, operation);
  }
  void check_fences(const Warp& warp, const Operation& operation) {
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
  void check_registers(const Warp& warp, const Operation& operation) {
    auto& products = warps_[warp.number].products;
    if (products.empty()) return;
    const Operation* product = all_.products_.find(operation, &products);
    if (product == nullptr) return;
    const std::string earlier = line_text(product->number), line = line_text(operation.number);
    add_finding(RaceLevel::kError, "wgmma.mma_async" + earlier, "access to a register" + line,
                location_text(block_, thread_of(warp, 0)) + "Access to a register" + line +
                    " of wgmma.mma_async" + earlier + ", with no wgmma.wait_group between");
  }
  // Records the initialisation of an mbarrier, or the end of a phase that an arrival completed.
  void note_mbarrier(const Warp& warp, const Operation& operation, const Traits& traits,
                     uint32_t at) {
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
  void note_phase(uint32_t at) {
    const uint64_t phases = block_.mbarriers.phases(at);
    Phase& phase = phases_[at];
    if (phases == phase.phases) return;
    phase.phases = phases;
    phase.released = order_.released_at(location_in(*this, at));
  }
  // Records a fence.mbarrier_init, or a fence.proxy.async for shared memory, which applies to all
  // initialisations of the block's mbarriers that happened before the fence.
  void fence_inits(const Warp& warp) {
    order_.fence_inits(warp.number);
    for (auto& [at, init] : inits_) {
      init.is_fenced =
          init.is_fenced || init.record.warp == warp.number ||
          order_.has_acquired(warp.number, init.record.block, init.record.warp, init.record.time);
    }
  }
  // Checks that the initialisation of an mbarrier happens before a use. The cells of the object do
  // not suffice for this check, since later accesses replace the initialisation.
  void check_order_of_inits(const Warp& warp, const Operation& operation, const Traits& traits,
                            const Touched& touched) {
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
  void report_init(const Init& init, const AccessRecord& now, uint32_t id, uint32_t at) {
    const AccessRecord& before = init.record;
    if (before.block == now.block && before.warp == now.warp) return;
    if (order_.has_acquired(now.warp, before.block, before.warp, before.time)) return;
    const std::string bytes = " at byte " + std::to_string(at) + " of shared memory";
    add_finding(RaceLevel::kError, all_.cells_.pair_of("", before, now),
                start_text(now, id) + all_.cells_.race_text(before, init.id, now, bytes) +
                    text_of(RaceReason::kBarrier));
  }
  // Checks that the initialisation of a bulk copy's mbarrier happens before the copy, and that a
  // fence.mbarrier_init or fence.proxy.async is between the two, since the async proxy counts the
  // bytes of the copy at the mbarrier.
  void check_init(const Warp& warp, const Operation& operation, const IssuedCopy& copy) {
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
  // Records a fence of the tensormap proxy (PTX ISA, "membar, fence" and
  // "tensormap.cp_fenceproxy"): before a bulk copy reads a tensor map, writes to the map must be
  // released, and an acquire fence for the map must follow in the block of the bulk copy.
  void fence_maps(Warp& warp, const Operation& operation, const Traits& traits) {
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
  // Checks the store by tensormap.cp_fenceproxy to the tensor map at the address of lane 0.
  void write_map(Warp& warp, const Operation& operation) {
    const uint64_t at = warp.lanes<uint64_t>(operation.src0)[0];
    if (warp.mask != Warp::kAll || !is_valid(Space::kGlobal, at, kTensorMapBytes)) return;
    if (of_lanes_) order_.tick(warp.number);
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
  // Checks that a bulk copy may read its tensor map in global memory: the launch's writes to the
  // map must be released, and an acquire fence for the map must follow. Without such writes, an
  // acquire fence must precede the copy.
  void check_map(const Warp& warp, const Operation& operation, const IssuedCopy& copy) {
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
  RaceVerdict judge_map(const AccessRecord& write, const Now& now,
                        const std::vector<const MapFence*>& fences) const {
    const unsigned warp = now.record->warp;
    const bool is_own = write.block == number_ && write.warp == warp;
    if (!is_own && !order_.has_acquired(warp, write.block, write.warp, write.time)) {
      return judge_order(write, 0, now);
    }
    for (const MapFence* fence : fences) {
      if (fence->released != nullptr && fence->released->has(write.block, write.warp, write.time))
        return {};
    }
    return {RaceVerdict::kError, RaceReason::kMaps};
  }
  bool is_constant(uint64_t at) const {
    const std::vector<KernelVariable>& all = all_.instrumented_->kernel.variables;
    return std::any_of(all.begin(), all.end(), [&](const KernelVariable& variable) {
      return variable.is_constant && at >= variable.begin && at - variable.begin < variable.bytes;
    });
  }
  // Reports bulk copies that may still read the shared memory of the block when the block ends.
  void check_groups() {
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
  // Checks that accesses by other blocks to the block's shared memory, and bulk copies that write
  // to this memory, happen before the block ends.
  void check_foreign() {
    for (const uint32_t index : foreign_) {
      const AccessRecord& record = shared_records_[index];
      bool is_ordered = false;
      for (unsigned w = 0; w < warps_.size() && !is_ordered; ++w) {
        is_ordered = record.is_async()
                         ? has_completed(w, record)
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
  bool has_completed(unsigned warp, const AccessRecord& record) const {
    const LaunchOrder::Completion& completion = all_.order_.completion(record.time);
    return completion.time != LaunchOrder::Completion::kPending &&
           order_.has_completed(warp, completion.key, completion.time);
  }
  std::string line_text(uint32_t operation) const {
    return all_.instrumented_->line_text(operation);
  }
  std::string start_text(const AccessRecord& now, uint32_t id) const {
    return kernel_name() + ": " + all_.cells_.location_text(now, id) + ": ";
  }
  const std::string& kernel_name() const { return all_.cells_.launch(all_.launch_).kernel; }
  void add_finding(RaceLevel level, const std::string& first, const std::string& second,
                   const std::string& sentence) {
    add_finding(level, FindingLedger::Pair{kernel_name(), first, second}, sentence);
  }
  void add_finding(RaceLevel level, FindingLedger::Pair pair, const std::string& sentence) {
    if (level < all_.least_) return;
    std::get<0>(pair) = kernel_name();
    FindingCount& finding = all_.races_.at(level)[pair];
    if (++finding.count > 1 && finding.block <= number_) return;
    finding.block = number_;
    finding.level = level;
    finding.sentence = sentence;
  }
  void wait_for_all_copies(const Warp& warp) {
    warps_[warp.number].copies.commit(warp.mask);
    wait_for_copies(warp, 0);
  }
  void wait_for_copies(const Warp& warp, uint64_t pending) {
    warps_[warp.number].copies.wait(warp.mask, pending, [&](uint32_t record, bool is_global) {
      if (is_global && !all_.cells_.has(GlobalCells::with_lane(record, 0))) return;
      AccessRecord& copy = is_global ? all_.cells_.instruction(GlobalCells::with_lane(record, 0))
                                     : shared_records_[record];
      copy.time = order_.time(warp.number);
    });
  }
  // Called when the block has ended. A block that did not execute griddepcontrol.launch_dependents
  // lets later work begin when the block ends.
  void end_block() {
    if (runs_ && all_.may_overlap_ && (triggers_first_ || !waits_)) {
      all_.cells_.triggers_first(all_.launch_);
    }
    runs_ = waits_ = triggers_first_ = false;
  }

  void check_source(Warp& warp, const Operation& operation, const Traits& traits) {
    const uint32_t mask = warp.mask;
    if ((warp.mask = lanes_that_load(warp, operation)) != 0) {
      const int count = find_touched(warp, source_of(operation), touched_);
      for (int i = 0; i < count; ++i) {
        check(warp, operation, traits, AccessKind::kLoad, touched_[i], nullptr);
      }
    }
    warp.mask = mask;
  }

  // Returns whether the bytes of an access are in one allocation, or in the block's shared memory.
  bool is_valid(Space space, uint64_t at, uint32_t bytes) {
    if (space == Space::kShared) {
      const std::vector<unsigned char>& shared = memory_->block_.shared;
      return at <= shared.size() && shared.size() - at >= bytes;
    }
    if (at < range_.begin || at >= range_.end) range_ = block_.launch.memory.range_of(at);
    return at >= range_.begin && at < range_.end && range_.end - at >= bytes;
  }
  // Returns whether an address is in the heap of the device's malloc(). The tool does not track the
  // reuse of this memory.
  bool is_of_heap(uint64_t at) const {
    const Range range = block_.launch.heap.range_of(at);
    return at >= range.begin && at < range.end;
  }
  const unsigned char* memory_at(Space space, uint64_t at) const {
    return space == Space::kShared ? &memory_->block_.shared[at]
                                   : reinterpret_cast<const unsigned char*>(at);
  }
  // Copies the bytes at the addresses of each lane; `old` has `bytes` bytes for each lane.
  void keep_old(const Touched& touched, uint32_t bytes, unsigned char* old) {
    if (touched.space != Space::kShared && touched.space != Space::kGlobal) return;
    choose_memory(touched);
    if (is_row(touched, bytes) && is_valid(touched.space, touched.at[0], 32 * bytes)) {
      std::memcpy(old, memory_at(touched.space, touched.at[0]), size_t{32} * bytes);
      return;
    }
    for (uint32_t remaining = touched.lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      if (!is_valid(touched.space, touched.at[lane], bytes)) continue;
      std::memcpy(old + size_t{bytes} * lane, memory_at(touched.space, touched.at[lane]), bytes);
    }
  }
  // Returns whether all 32 lanes access adjacent elements of `bytes` bytes, in the order of the
  // lanes.
  static bool is_row(const Touched& touched, uint32_t bytes) {
    if (touched.lanes != Warp::kAll) return false;
    uint64_t difference = 0;
    for (uint64_t lane = 0; lane < 32; ++lane) {
      difference |= touched.at[lane] - touched.at[0] - lane * bytes;
    }
    return difference == 0;
  }

  void check(Warp& warp, const Operation& operation, const Traits& traits, AccessKind kind,
             const Touched& touched, const unsigned char* old) {
    choose_memory(touched);
    if (touched.space == Space::kGlobal) {
      check_in<false>(warp, operation, traits, kind, touched, old);
    } else if (touched.space == Space::kShared) {
      check_in<true>(warp, operation, traits, kind, touched, old);
    }
  }

  // Sets memory_ to the block whose shared memory the lanes access.
  void choose_memory(const Touched& touched) {
    const bool is_other = touched.space == Space::kShared && touched.rank != block_.rank;
    memory_ = is_other ? &all_.of_block(block_.cluster->block(touched.rank)) : this;
  }

  // Returns the number of the record of the operation that the warp runs now. Adds the record if
  // the last record of the operation differs.
  template <bool kShared>
  uint32_t record_now(const Warp& warp, const Operation& operation, const Traits& traits,
                      AccessKind kind) {
    const bool is_copy = traits.access == AccessKind::kCopy;
    if (of_lanes_) order_.tick(warp.number);
    const AccessRecord now{all_.launch_,
                           operation.number,
                           number_,
                           is_copy ? AccessRecord::kPending : order_.time(warp.number),
                           static_cast<uint8_t>(warp.number),
                           kind,
                           traits.scope,
                           traits.element_bytes};
    OfWarp& state = warps_[warp.number];
    if constexpr (kShared) {
      if (memory_ != this) return add_shared(now);
      uint32_t& last = state.shared_records[traits.number];
      if (!is_copy && last < shared_records_.size() && shared_records_[last] == now) return last;
      last = static_cast<uint32_t>(shared_records_.size());
      shared_records_.push_back(now);
      if (is_copy) state.copies.add(warp.mask, last, false);
      return last;
    } else {
      uint32_t& last = state.records[traits.number];
      const uint32_t id = GlobalCells::with_lane(last, 0);
      if (!is_copy && all_.cells_.has(id) && all_.cells_.instruction(id) == now) return last;
      last = all_.cells_.add(now);
      if (is_copy) state.copies.add(warp.mask, last, true);
      return last;
    }
  }
  template <bool kShared>
  const AccessRecord& record_of(uint32_t id) const {
    if constexpr (kShared) return memory_->shared_records_[id >> 5];
    return all_.cells_.instruction(id);
  }

  template <bool kShared>
  void check_in(const Warp& warp, const Operation& operation, const Traits& traits, AccessKind kind,
                const Touched& touched, const unsigned char* old) {
    constexpr Space kSpace = kShared ? Space::kShared : Space::kGlobal;
    const uint32_t bytes = operation.bytes;
    const bool is_weak_store = kind == AccessKind::kStore && !traits.is_strong();
    const uint32_t record = record_now<kShared>(warp, operation, traits, kind);
    const AccessRecord now_record = record_of<kShared>(GlobalCells::with_lane(record, 0));
    ordered_ = 0;
    if (check_row<kShared>(traits, bytes, record, now_record, touched, old)) return;
    for (uint32_t remaining = touched.lanes; remaining != 0; remaining &= remaining - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(remaining));
      const uint64_t at = touched.at[lane];
      if ((at & (bytes - 1)) != 0) continue;  // the misaligned access reports a fault
      unsigned shift = RaceCells::shift_of(at, bytes);
      if constexpr (kShared) {
        if (!is_valid(Space::kShared, at, bytes)) continue;
      } else {
        if ((at < range_.begin || at >= range_.end) && !is_valid(Space::kGlobal, at, bytes) &&
            is_of_heap(at)) {
          continue;
        }
      }
      RaceCell* cell = cells_at<kShared>(at, &shift);
      Now now{&now_record, GlobalCells::with_lane(record, static_cast<int>(lane)), lane, at};
      bool continues = false;
      if (traits.is_strong()) {
        continues = follows_strongly<kShared>(*cell, now_record);
        now.observes = continues && kind == AccessKind::kAtomic && !traits.is_reduction;
        // The load of a wait for a phase acquires nothing here: waited() acquires when the phase
        // has completed.
        const bool reads = traits.reads() && !(traits.is_mbarrier && kind == AccessKind::kLoad);
        if (continues && reads && order_.any_released()) {
          order_.read(warp.number, location<kShared>(at), traits);
        }
      }
      const uint32_t step = 1u << shift, count = bytes >> shift;
      if (kind == AccessKind::kLoad) {
        for (uint32_t i = 0; i < count; ++i, ++cell, now.at += step) {
          if (!continues && loads_in_order(cell, now.id)) continue;
          load<kShared>(cell, &now);
          if (continues && traits.access != AccessKind::kCopy) observe<kShared>(*cell, now, step);
        }
        continue;
      }
      const bool is_known = kind != AccessKind::kCopy && is_valid(kSpace, at, bytes);
      const unsigned char* before = old + size_t{bytes} * lane;
      // A cas that changes nothing counts as a load, since a cas that fails stores nothing.
      if (traits.is_cas && is_known && std::memcmp(before, memory_at(kSpace, at), bytes) == 0) {
        for (uint32_t i = 0; i < count; ++i, now.at += step) {
          load<kShared>(cell + i, &now);
          if (continues) observe<kShared>(cell[i], now, step);
        }
        continue;
      }
      const bool overwrites = is_weak_store && keeps_no_values<kShared>();
      for (uint32_t i = 0; i < count; ++i, now.at += step) {
        if (overwrites && stores_in_order(cell + i, now.id)) continue;
        const uint32_t first =
            is_known ? first_difference(before + i * step, memory_at(kSpace, now.at), step) : 0;
        store<kShared>(cell + i, &now, first, step);
      }
      if (traits.is_strong()) {
        order_.write(warp.number, location<kShared>(at), traits,
                     continues && kind == AccessKind::kAtomic);
      }
    }
  }
  // Returns the first cell of an access. The cells have at most 2^*shift bytes; stores log2 of
  // their size in *shift.
  template <bool kShared>
  RaceCell* cells_at(uint64_t at, unsigned* shift) {
    if constexpr (kShared) {
      RaceCell* const cell = memory_->shared_cells_.at(at, *shift);
      *shift = memory_->shared_cells_.shift();
      return cell;
    } else {
      return all_.cells_.at(at, shift);
    }
  }
  // Checks weak accesses of all lanes to adjacent words of one page, the most frequent case.
  // Returns false, without effect, for other accesses.
  template <bool kShared>
  bool check_row(const Traits& traits, uint32_t bytes, uint32_t record,
                 const AccessRecord& now_record, const Touched& touched, const unsigned char* old) {
    constexpr Space kSpace = kShared ? Space::kShared : Space::kGlobal;
    constexpr uint32_t kWordBytes = 1u << RaceCells::kWord;
    const AccessKind kind = traits.access;
    if (traits.is_strong() || (kind != AccessKind::kLoad && kind != AccessKind::kStore) ||
        !is_row(touched, bytes)) {
      return false;
    }
    const uint64_t begin = touched.at[0];
    const uint32_t size = 32 * bytes;
    if ((begin & (bytes - 1)) != 0 || bytes < kWordBytes || !is_valid(kSpace, begin, size) ||
        (!kShared && !GlobalCells::is_in_one_page(begin, size))) {
      return false;
    }
    unsigned shift = RaceCells::kWord;
    RaceCell* cell = cells_at<kShared>(begin, &shift);
    if (shift != RaceCells::kWord) return false;
    const bool overwrites = keeps_no_values<kShared>();
    const auto words_shift = static_cast<unsigned>(__builtin_ctz(bytes / kWordBytes));
    for (uint32_t i = 0; i < size / kWordBytes; ++i, ++cell) {
      const uint32_t lane = i >> words_shift;
      const uint32_t id = GlobalCells::with_lane(record, static_cast<int>(lane));
      if (kind == AccessKind::kLoad ? loads_in_order(cell, id)
                                    : overwrites && stores_in_order(cell, id)) {
        continue;
      }
      Now now{&now_record, id, lane, begin + i * kWordBytes};
      if (kind == AccessKind::kLoad) {
        load<kShared>(cell, &now);
      } else {
        const uint32_t first =
            first_difference(old + i * kWordBytes, memory_at(kSpace, now.at), kWordBytes);
        store<kShared>(cell, &now, first, kWordBytes);
      }
    }
    return true;
  }
  // Returns whether `id` is 0 (no access), or an access of record number ordered_, which is ordered
  // before the current operation.
  bool is_before_now(uint32_t id) const { return id == 0 || id >> 5 == ordered_; }
  // Records a load of a cell if is_before_now() holds for all accesses of the cell. Returns false,
  // without effect, for other cells.
  bool loads_in_order(RaceCell* cell, uint32_t id) const {
    if ((cell->also_written | cell->last_read) != 0 || !is_before_now(cell->written)) {
      return false;
    }
    if (is_before_now(cell->first_read)) {
      cell->first_read = id;
      return true;
    }
    return !of_lanes_ && cell->first_read >> 5 == id >> 5;  // read by another lane of the operation
  }
  // Returns whether neither stores of the same value nor observations of writes are recorded for
  // this memory.
  template <bool kShared>
  bool keeps_no_values() {
    return same_value<kShared>().empty() && observers<kShared>().is_empty();
  }
  // Like loads_in_order(), for a weak store. Requires keeps_no_values().
  bool stores_in_order(RaceCell* cell, uint32_t id) const {
    if ((cell->also_written | cell->last_read) != 0 || !is_before_now(cell->written) ||
        !is_before_now(cell->first_read)) {
      return false;
    }
    *cell = {id, 0, 0, 0};
    return true;
  }
  template <bool kShared>
  uint64_t location(uint64_t at) const {
    return kShared ? location_in(*memory_, at) : at;
  }
  static uint64_t location_in(const OfBlock& memory, uint64_t at) {
    return memory.block_.cluster->size() == 1 ? BlockOrder::shared_location(at)
                                              : BlockOrder::cluster_location(memory.number_, at);
  }
  // Returns the index of the first byte that differs; `bytes` if all bytes are equal.
  static uint32_t first_difference(const unsigned char* a, const unsigned char* b, uint32_t bytes) {
    uint32_t i = 0;
    while (i < bytes && a[i] == b[i]) ++i;
    return i;
  }

  // Returns whether the threads of two accesses are in one cluster, which scope cluster requires
  // (PTX ISA 8.5).
  bool are_of_one_cluster(const AccessRecord& a, const AccessRecord& b) const {
    return a.block == b.block || cluster_of(a.block) == cluster_of(b.block);
  }
  uint64_t cluster_of(uint64_t block) const {
    const dim3 grid = block_.launch.grid, cluster = block_.launch.cluster;
    const uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
    return x / cluster.x + uint64_t{grid.x / cluster.x} *
                               (y / cluster.y + uint64_t{grid.y / cluster.y} * (z / cluster.z));
  }
  // Returns whether the scope of a strong access includes the thread of another access.
  bool includes(const AccessRecord& access, const AccessRecord& other) const {
    if (access.launch == other.launch) {
      if (access.scope == ThreadScope::kCluster) return are_of_one_cluster(access, other);
      return access.scope >= ThreadScope::kDevice ||
             (access.is_strong() && access.block == other.block);
    }
    const bool same_device =
        all_.cells_.launch(access.launch).device == all_.cells_.launch(other.launch).device;
    return access.scope >= (same_device ? ThreadScope::kDevice : ThreadScope::kSystem);
  }
  bool are_morally_strong(const AccessRecord& before, const AccessRecord& now) const {
    return before.is_strong() && now.is_strong() && before.element_bytes == now.element_bytes &&
           includes(before, now) && includes(now, before);
  }
  // Returns whether the last write to a cell is morally strong with the access `now`.
  template <bool kShared>
  bool follows_strongly(const RaceCell& cell, const AccessRecord& now) const {
    const uint32_t last = cell.also_written != 0 ? cell.also_written : cell.written;
    return last != 0 && are_morally_strong(record_of<kShared>(last), now);
  }

  // Returns the verdict on two conflicting accesses. Accesses by two proxies need both an order and
  // a fence between them.
  template <bool kShared>
  RaceVerdict judge(const AccessRecord& before, uint32_t before_id, const Now& now_access) const {
    const AccessRecord& now = *now_access.record;
    if (before.is_async() && before.launch == now.launch) return judge_async(before, now);
    if (!now.is_async()) return judge_order(before, before_id, now_access);
    const bool both_update = before.kind == AccessKind::kAtomic && now.kind == AccessKind::kAtomic;
    if (both_update) return {RaceVerdict::kSilent};
    const RaceVerdict order = judge_order(before, before_id, now_access);
    if (order.kind != RaceVerdict::kOrdered || before.launch != now.launch ||
        !now.is_by_async_proxy()) {
      return order;
    }
    if (order_.is_fenced(now.warp, kShared, before.block, before.warp, before.time)) return {};
    const bool is_warn = before.kind == AccessKind::kLoad ||
                         order_.is_before_barrier(now.warp, before.block, before.warp, before.time);
    return {is_warn ? RaceVerdict::kWarn : RaceVerdict::kError, RaceReason::kProxies};
  }
  // Returns the verdict on an access `before` by an asynchronous operation and a later access of
  // the same launch. A wait for the completion of `before` between the accesses orders them,
  // whatever their proxies.
  RaceVerdict judge_async(const AccessRecord& before, const AccessRecord& now) const {
    if (has_completed(now.warp, before)) return {};
    if (before.kind == AccessKind::kAtomic && now.kind == AccessKind::kAtomic) {
      return {RaceVerdict::kSilent};
    }
    const uint64_t key = all_.order_.completion(before.time).key;
    const bool is_product = CompletionKey::kind(key) == CompletionKey::kProducts;
    return {RaceVerdict::kError, is_product ? RaceReason::kProducts : RaceReason::kCopy};
  }
  RaceVerdict judge_order(const AccessRecord& before, uint32_t before_id,
                          const Now& now_access) const {
    const AccessRecord& now = *now_access.record;
    const bool strong = are_morally_strong(before, now);
    if (strong && before.kind == AccessKind::kAtomic && now.kind == AccessKind::kAtomic) {
      return {RaceVerdict::kSilent};
    }
    if (before.launch != now.launch) return judge_launches(before, now, strong);
    if (before.block == now.block && before.warp == now.warp) {
      return judge_lanes(before, before_id, now_access, strong);
    }
    if (order_.has_acquired(now.warp, before.block, before.warp, before.time)) return {};
    const bool lenient =
        order_.has_acquired_leniently(now.warp, before.block, before.warp, before.time);
    const RaceReason reason = reason_of(before, now);
    if (strong) {
      const bool is_info =
          !lenient || order_.has_acquired_by_cas(now.warp, before.block, before.warp, before.time);
      return {is_info ? RaceVerdict::kInfo : RaceVerdict::kSilent,
              lenient ? RaceReason::kAcquire : reason};
    }
    if (lenient) {
      const bool by_barrier =
          order_.has_acquired_by_barrier(now.warp, before.block, before.warp, before.time);
      return {RaceVerdict::kWarn, by_barrier ? RaceReason::kPublisher : RaceReason::kAcquire};
    }
    return {RaceVerdict::kError, reason};
  }
  RaceVerdict judge_launches(const AccessRecord& before, const AccessRecord& now,
                             bool strong) const {
    const WorkId& work = all_.cells_.launch(before.launch).work;
    const bool overlaps = may_run(work);
    if (overlaps ? order_.is_after_earlier_work(now.warp) : is_before(work)) return {};
    const RaceReason reason = overlaps ? RaceReason::kDependent : RaceReason::kLaunches;
    return {strong ? RaceVerdict::kInfo : RaceVerdict::kError, reason};
  }
  RaceVerdict judge_lanes(const AccessRecord& before, uint32_t before_id, const Now& now,
                          bool strong) const {
    if (before.time == AccessRecord::kPending) return {RaceVerdict::kError, RaceReason::kCopy};
    const uint32_t time = now.record->is_async() ? order_.time(before.warp) : now.record->time;
    if (!of_lanes_ || before.time == time ||
        order_.lane_has_acquired(before.warp, now.lane, before_id & 31, before.time)) {
      return {};
    }
    return {strong ? RaceVerdict::kInfo : RaceVerdict::kWarn, RaceReason::kLanes};
  }
  RaceReason reason_of(const AccessRecord& before, const AccessRecord& now) const {
    if (before.time == AccessRecord::kPending) return RaceReason::kCopy;
    if (before.is_strong() && now.is_strong()) {
      const AccessRecord* narrow = !includes(before, now)   ? &before
                                   : !includes(now, before) ? &now
                                                            : nullptr;
      if (narrow != nullptr) {
        return narrow->scope == ThreadScope::kCluster ? RaceReason::kClusterScope
                                                      : RaceReason::kScope;
      }
      if (before.element_bytes != now.element_bytes) return RaceReason::kMixed;
    }
    if (before.block == now.block) return RaceReason::kBarrier;
    const LaunchOrder::FenceTimes fences = all_.order_.fences_of(before.block, before.warp);
    if (fences.of_device >= before.time || fences.of_block < before.time) {
      return RaceReason::kBlocks;
    }
    if (block_.cluster->size() == 1 || fences.of_cluster < before.time) {
      return RaceReason::kFenceScope;
    }
    return are_of_one_cluster(before, now) ? RaceReason::kBlocks : RaceReason::kClusterFenceScope;
  }
  bool may_run(const WorkId& work) const {
    return all_.may_overlap_ && all_.cells_.launch(all_.launch_).may_run_with(work);
  }

  // Returns the verdict on the accesses `before` and *now. `adjust` can change the verdict on
  // unordered accesses. Reports at most one race for each access *now. ordered_ avoids repeated
  // checks, since consecutive cells often have the same earlier instruction.
  template <bool kShared, class Adjust>
  RaceVerdict compare(uint32_t before, Now* now, const Adjust& adjust) {
    if (before >> 5 == ordered_) return {};
    const AccessRecord& record = record_of<kShared>(before);
    RaceVerdict verdict = judge<kShared>(record, before, *now);
    if (verdict.is_reported(all_.least_) && !observers<kShared>().is_empty()) {
      judge_observed<kShared>(record, before, *now, &verdict);
      // Leaves ordered_ unchanged: an observation orders the accesses in this cell only. Another
      // cell with the same earlier access may lack the observation.
      if (verdict.kind == RaceVerdict::kOrdered) return verdict;
    }
    if (verdict.kind == RaceVerdict::kOrdered) {
      const bool same_warp = record.warp == now->record->warp && record.block == number_ &&
                             record.launch == all_.launch_;
      if (!of_lanes_ || !same_warp) ordered_ = before >> 5;
      return verdict;
    }
    adjust(record, &verdict);
    if (!now->reported && verdict.is_reported(all_.least_)) {
      report<kShared>(before, *now, verdict);
      now->reported = true;
    }
    return verdict;
  }
  // Changes *verdict to kOrdered if an observation orders the accesses, or to kWarn if only an
  // acquire fence is missing. PTX ISA, section 8.9.5, item 2 of causality order: a write precedes
  // an access to the same memory if a strong read has observed the write (8.9.2) and precedes the
  // access in base causality order.
  template <bool kShared>
  void judge_observed(const AccessRecord& record, uint32_t before, const Now& now,
                      RaceVerdict* verdict) {
    if (record.is_async() || record.launch != all_.launch_ || now.record->launch != all_.launch_) {
      return;
    }
    bool lenient = false;
    const unsigned warp = now.record->warp;
    const bool ordered =
        observers<kShared>().any(now.at, before, [&](const Observers::Observer& observer) {
          const uint64_t block = observer.block;
          if (block == number_ && observer.warp == warp) {
            return order_.lane_has_acquired(warp, now.lane, observer.lane, observer.time);
          }
          lenient =
              lenient || order_.has_acquired_leniently(warp, block, observer.warp, observer.time);
          return order_.has_acquired(warp, block, observer.warp, observer.time);
        });
    if (ordered) {
      *verdict = {};
    } else if (lenient && verdict->kind == RaceVerdict::kError) {
      *verdict = {RaceVerdict::kWarn, RaceReason::kAcquire};
    }
  }
  // Records that the strong load `now` of a cell has observed the last write, if the write does not
  // already precede the load.
  template <bool kShared>
  void observe(const RaceCell& cell, const Now& now, uint32_t bytes) {
    const uint32_t last = cell.also_written != 0 ? cell.also_written : cell.written;
    const AccessRecord &write = record_of<kShared>(last), &read = *now.record;
    if (write.launch != read.launch || (write.block == read.block && write.warp == read.warp) ||
        order_.has_acquired(read.warp, write.block, write.warp, write.time)) {
      return;
    }
    observers<kShared>().add(now.at, bytes, last, {read.block, now.lane, read.time, read.warp});
  }
  // Removes the observations of writes that are no longer in a cell.
  template <bool kShared>
  void forget_observers(const RaceCell& cell, uint32_t written, uint64_t at, uint32_t bytes) {
    observers<kShared>().remove(at, bytes, [&](uint32_t write) {
      return write == written || (write != cell.written && write != cell.also_written);
    });
  }
  template <bool kShared>
  Observers& observers() {
    if constexpr (kShared) return memory_->observers_;
    return all_.observers_;
  }
  // Returns whether a cell keeps an earlier access in addition to the new access: if the two are
  // unordered and their race is not reported.
  bool remains(const RaceVerdict& verdict) const {
    return verdict.kind != RaceVerdict::kOrdered && !verdict.is_reported(all_.least_);
  }
  template <bool kShared>
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>>& same_value() {
    if constexpr (kShared) return memory_->same_value_;
    return all_.same_value_;
  }
  // Returns whether the warp of `access` is one of the warps that stored the same value in the word
  // at `at`.
  template <bool kShared>
  bool stored_the_value(uint64_t at, const AccessRecord& access) {
    const auto& all = same_value<kShared>();
    if (all.empty()) return false;
    const auto writers = all.find(at);
    return writers != all.end() && writers->second.count(key_of(access.block, access.warp)) != 0;
  }

  template <bool kShared>
  void load(RaceCell* cell, Now* now) {
    const auto adjust = [&](const AccessRecord&, RaceVerdict* verdict) {
      if (stored_the_value<kShared>(now->at, *now->record)) {
        verdict->kind = std::min(verdict->kind, RaceVerdict::kInfo);
      }
    };
    if (cell->written != 0) compare<kShared>(cell->written, now, adjust);
    if (cell->also_written != 0) compare<kShared>(cell->also_written, now, adjust);
    if (kShared && (cell->last_read & kList) != 0) {
      return add_reader(&memory_->readers_[cell->last_read & ~kList], now->id, *now);
    }
    if (cell->first_read >> 5 == now->id >> 5 && cell->first_read != 0) {
      if (of_lanes_) cell->last_read = now->id;
      return;
    }
    if (cell->first_read == 0 || is_read_before<kShared>(cell->first_read, *now)) {
      cell->first_read = now->id;
      return;
    }
    if (kShared && cell->last_read != 0 && !is_read_before<kShared>(cell->last_read, *now)) {
      return list_readers(cell, *now);
    }
    cell->last_read = now->id;
  }
  __attribute__((noinline)) void list_readers(RaceCell* cell, const Now& now) {
    std::vector<Readers>& all_readers = memory_->readers_;
    const auto list = static_cast<uint32_t>(all_readers.size());
    all_readers.emplace_back(2 * num_readers());
    for (const uint32_t id : {cell->first_read, cell->last_read, now.id}) {
      add_reader(&all_readers[list], id, now);
    }
    cell->last_read = list | kList;
  }
  template <bool kShared>
  bool is_read_before(uint32_t read, const Now& now) {
    if (read >> 5 == ordered_) return true;
    const AccessRecord& record = record_of<kShared>(read);
    if (record.is_async() && record.launch == all_.launch_) {
      return has_completed(now.record->warp, record);
    }
    if (record.time == AccessRecord::kPending) return false;
    // Only the order of the two reads matters here, not the level of a conflict.
    bool is_before;
    if (record.launch != all_.launch_) {
      is_before = judge_launches(record, *now.record, false).kind == RaceVerdict::kOrdered;
    } else if (record.block == number_ && record.warp == now.record->warp) {
      is_before = order_.lane_has_acquired(record.warp, now.lane, read & 31, record.time);
      if (of_lanes_) return is_before;
    } else {
      is_before = order_.has_acquired(now.record->warp, record.block, record.warp, record.time);
    }
    // Leaves ordered_ unchanged for an asynchronous access, which can need a fence in addition to
    // the order.
    if (is_before && !now.record->is_async()) ordered_ = read >> 5;
    return is_before;
  }
  size_t num_readers() const { return size_t{kMostWarps} * block_.cluster->size(); }
  void add_reader(Readers* all, uint32_t id, const Now& now) {
    const AccessRecord& record = record_of<true>(id);
    const size_t warp = record.warp + size_t{kMostWarps} * (record.block % block_.cluster->size());
    uint32_t& first = (*all)[warp];
    const bool replaces = first == 0 || (id == now.id && is_read_before<true>(first, now));
    (replaces ? first : (*all)[num_readers() + warp]) = id;
  }

  // Checks a store to a cell of `bytes` bytes. `first` is the index of the first byte that the
  // store changes, or `bytes` if the store changes no byte.
  template <bool kShared>
  void store(RaceCell* cell, Now* now, uint32_t first, uint32_t bytes) {
    if ((cell->written | cell->first_read | cell->last_read) == 0) {
      cell->written = now->id;
      return;
    }
    const uint64_t at = now->at;
    const bool is_store = now->record->kind == AccessKind::kStore && !now->record->is_async();
    const bool same = is_store && first == bytes;
    uint32_t kept = 0;
    now->at = at + (is_store && !same ? first : 0);
    for (const uint32_t before : {cell->written, cell->also_written}) {
      if (before == 0) continue;
      const RaceVerdict verdict =
          compare<kShared>(before, now, [&](const AccessRecord& record, RaceVerdict* found) {
            if (!same || record.kind != AccessKind::kStore || record.is_async()) return;
            found->kind = std::min(found->kind, RaceVerdict::kInfo);
            add_writer<kShared>(at, record);
            add_writer<kShared>(at, *now->record);
          });
      const bool is_observed =
          now->observes && are_morally_strong(record_of<kShared>(before), *now->record);
      if (remains(verdict) && kept == 0 && !is_observed) kept = before;
    }
    now->at = at;
    const auto of_reader = [&](const AccessRecord& record, RaceVerdict* verdict) {
      if (same && stored_the_value<kShared>(at, record)) {
        verdict->kind = std::min(verdict->kind, RaceVerdict::kInfo);
      }
    };
    uint32_t reads[2] = {};
    int count = 0;
    const auto compare_read = [&](uint32_t before) {
      if (before == 0) return;
      if (remains(compare<kShared>(before, now, of_reader)) && count < 2) reads[count++] = before;
    };
    compare_read(cell->first_read);
    if (kShared && (cell->last_read & kList) != 0) {
      for (const uint32_t reader : memory_->readers_[cell->last_read & ~kList])
        compare_read(reader);
    } else {
      compare_read(cell->last_read);
    }
    if (!same && !same_value<kShared>().empty()) same_value<kShared>().erase(at);
    *cell = {kept != 0 ? kept : now->id, kept != 0 ? now->id : 0, reads[0], reads[1]};
    if (!observers<kShared>().is_empty()) forget_observers<kShared>(*cell, now->id, at, bytes);
  }
  template <bool kShared>
  void add_writer(uint64_t at, const AccessRecord& access) {
    same_value<kShared>()[at].insert(key_of(access.block, access.warp));
  }

  template <bool kShared>
  void report(uint32_t before_id, const Now& now_access, const RaceVerdict& verdict) {
    const GlobalCells& cells = all_.cells_;
    const AccessRecord &before = record_of<kShared>(before_id), &now = *now_access.record;
    const std::string& kernel = cells.launch(now.launch).kernel;
    FindingCount& race = all_.races_.at(verdict.level())[cells.pair_of(kernel, before, now)];
    ++race.count;
    if (race.count > 1 && race.block <= number_) return;
    race.block = number_;
    race.level = verdict.level();
    const char* what = "";
    if (verdict.kind == RaceVerdict::kInfo) {
      what = before.is_strong() && now.is_strong() ? "; both are strong accesses"
                                                   : "; all stores write the same value";
    }
    const std::string of_block =
        memory_ == this ? "" : " of block " + index_text(memory_->block_.index);
    const std::string bytes =
        kShared
            ? " at byte " + std::to_string(now_access.at) + " of shared memory" + of_block
            : GlobalCells::bytes_text(now_access.at, block_.launch.memory.range_of(now_access.at));
    race.sentence = kernel + ": " + cells.location_text(now, now_access.id) + ": " +
                    cells.race_text(before, before_id, now, bytes) + text_of(verdict.reason) + what;
  }

  KernelRaces& all_;
  Block& block_;
  const bool of_lanes_;      // whether races between lanes of a warp are reported
  const bool has_products_;  // whether the kernel has products of wgmma
  BlockOrder order_;
  OfBlock* memory_ = this;  // block whose shared memory is accessed
  AsyncOperations async_;
  std::map<uint32_t, Init> inits_;  // initialisations by offset of the mbarrier
  std::map<uint64_t, std::vector<MapFence>> map_fences_;  // fences by address of the tensor map
  std::unordered_map<uint32_t, Phase> phases_;            // phases by offset of the mbarrier
  // Indices into shared_records_ of accesses by other blocks, and of bulk copies that write shared
  // memory.
  std::vector<uint32_t> foreign_;
  uint32_t last_completion_ = 0;
  std::vector<OfWarp> warps_;
  RaceCells shared_cells_;
  std::vector<AccessRecord> shared_records_{1};
  std::vector<Readers> readers_{1};
  // For shared memory, like the members of KernelRaces with these names.
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>> same_value_;
  Observers observers_;
  Touched touched_[kMostTouchedOfAll];
  int touched_count_ = 0;
  std::vector<unsigned char> old_;  // bytes at the lanes' addresses before a store
  uint32_t ordered_ = 0;         // number of a record that is ordered before the current operation
  bool runs_ = false;            // whether a block is in progress
  bool waits_ = false;           // whether the current block has waited for earlier grids
  bool triggers_first_ = false;  // whether later grids could start before the block waited
  Range range_;
  uint64_t number_ = 0;  // number of the current block
};

KernelRaces::KernelRaces(std::shared_ptr<const InstrumentedKernel> instrumented,
                         const LaunchStart& start, std::vector<RaceLedger*> ledgers,
                         const WorkClock* dependent)
    : instrumented_(std::move(instrumented)),
      ledgers_(std::move(ledgers)),
      least_(least_level(ledgers_)),
      cells_(GlobalCells::of_process()),
      products_(instrumented_->kernel),
      fences_(instrumented_->kernel) {
  const Kernel& kernel = instrumented_->kernel;
  traits_.reserve(kernel.code.size());
  for (const Operation& operation : kernel.code) {
    traits_.push_back(traits_of(operation, kernel.origins[operation.number]));
    if (traits_.back().does == Traits::kAccesses) traits_.back().number = num_accesses_++;
    const Origin& origin = kernel.origins[operation.number];
    is_async_ = is_async_ || origin.has_effect(Effect::kIssuesCopies) ||
                origin.has_effect(Effect::kIssuesProducts);
  }
  LaunchRecord launch{start.name, instrumented_, work_now(), start.grid, start.block, start.device};
  launch.previous = previous_work();
  if (dependent != nullptr && launch.work.stream != nullptr) {
    const auto last = dependent->find(launch.work.stream);
    launch.ended =
        std::max({cells_.ended_before(launch.work, launch.previous), acquired_by_other_streams(),
                  last != dependent->end() ? last->second : 0});
    may_overlap_ = launch.ended < launch.previous;
  }
  launch_ = cells_.begin(std::move(launch));
}
KernelRaces::~KernelRaces() { races_.add_to(ledgers_); }

// Sets the scope of all strong accesses to mbarriers to `cluster`, for clusters of several blocks.
void KernelRaces::widen_scopes() {
  for (Traits& traits : traits_) {
    if (traits.is_mbarrier && traits.is_strong()) traits.scope = ThreadScope::kCluster;
  }
}

std::unique_ptr<BlockHooks> KernelRaces::block_hooks(Block& block) {
  if (block.cluster->size() > 1) {
    widen_scopes();
    order_.keep_clusters();
  }
  return std::make_unique<OfBlock>(*this, block);
}

}  // namespace kernkit::simulator::ptx
