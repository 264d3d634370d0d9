// SPDX-License-Identifier: Apache-2.0
// BlockRaces: racecheck for the accesses of one block of a kernel. block_races.cc has the hooks,
// block_race_cells.cc compares an access with the earlier accesses to the same memory, and
// block_async_races.cc checks bulk copies, products of wgmma, mbarriers and tensor maps.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "tools/accesses.h"
#include "tools/async_operations.h"
#include "tools/global_cells.h"
#include "tools/kernel_races.h"
#include "tools/memory_order.h"
#include "tools/observers.h"
#include "tools/pending_copies.h"
#include "tools/product_fences.h"
#include "tools/product_registers.h"
#include "tools/race_cells.h"
#include "tools/race_judge.h"
#include "tools/race_traits.h"

namespace kernkit::simulator::ptx {

class BlockRaces : public BlockHooks {
 public:
  BlockRaces(KernelRaces& all, Block& block);
  ~BlockRaces() override;
  void starts() override;
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
  void opens(uint32_t barrier) override;
  void before(Warp& warp, const Operation& operation) override;
  void after(Warp& warp, const Operation& operation) override {
    if (touched_count_ != 0) check_stores(warp, operation);
  }
  void leaves_out(Warp& warp, const Operation& operation) override { after(warp, operation); }
  void issues(const Warp& warp, const Operation& operation, const IssuedCopy& copy) override;
  void lands(uint64_t copy, const Block& to, const MbarrierPhase& mbarrier) override;
  void counted(uint32_t mbarrier) override { note_phase(mbarrier); }
  void waited(const Warp& warp, int lane, const Operation& operation,
              const MbarrierPhase& mbarrier) override;
  void ends() override;

 private:
  struct WarpState {
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
  static constexpr uint32_t kMostBytes = 32;  // largest access of a lane [bytes]

  // Compares the memory with its bytes before the store, to find stores that change nothing.
  __attribute__((noinline)) void check_stores(Warp& warp, const Operation& operation);
  // Records an operation that accesses no memory, such as a fence or a wait.
  void note(Warp& warp, const Operation& operation, const RaceTraits& traits);
  template <class Visit>
  static void each_bit(uint32_t mask, const Visit& visit) {
    for (uint32_t remaining = mask; remaining != 0; remaining &= remaining - 1) {
      visit(__builtin_ctz(remaining));
    }
  }
  static unsigned thread_of(const Warp& warp, int lane) {
    return warp.number * 32 + static_cast<unsigned>(lane);
  }
  void wait_for_all_copies(const Warp& warp);
  void wait_for_copies(const Warp& warp, uint64_t pending);
  // Called when the block has ended. A block that did not execute griddepcontrol.launch_dependents
  // lets later work begin when the block ends.
  void end_block();
  void check_source(Warp& warp, const Operation& operation, const RaceTraits& traits);
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
  void keep_old(const Touched& touched, uint32_t bytes, unsigned char* old);
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
  // Sets memory_ to the block whose shared memory the lanes access.
  void choose_memory(const Touched& touched) {
    const bool is_other = touched.space == Space::kShared && touched.rank != block_.rank;
    memory_ = is_other ? &all_.of_block(block_.cluster->block(touched.rank)) : this;
  }

  // Cells, in block_race_cells.cc:
  void check(Warp& warp, const Operation& operation, const RaceTraits& traits, AccessKind kind,
             const Touched& touched, const unsigned char* old);
  // Compares an access to `bytes` bytes from `at` on with the earlier accesses, in pieces of at
  // most 256 bytes: the cells of global memory are adjacent within a page only.
  template <bool kShared>
  void check_bytes(Now* now, uint64_t at, uint32_t bytes);
  // Returns the number of the record of the operation that the warp runs now. Adds the record if
  // the last record of the operation differs.
  template <bool kShared>
  uint32_t record_now(const Warp& warp, const Operation& operation, const RaceTraits& traits,
                      AccessKind kind);
  template <bool kShared>
  const AccessRecord& record_of(uint32_t id) const {
    if constexpr (kShared) return memory_->shared_records_[id >> 5];
    return all_.cells_.instruction(id);
  }
  template <bool kShared>
  void check_in(const Warp& warp, const Operation& operation, const RaceTraits& traits,
                AccessKind kind, const Touched& touched, const unsigned char* old);
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
  bool check_row(const RaceTraits& traits, uint32_t bytes, uint32_t record,
                 const AccessRecord& now_record, const Touched& touched, const unsigned char* old);
  // Returns whether `id` is 0 (no access), or an access of record number ordered_, which is ordered
  // before the current operation.
  bool is_before_now(uint32_t id) const { return id == 0 || id >> 5 == ordered_; }
  // Records a load of a cell if is_before_now() holds for all accesses of the cell. Returns false,
  // without effect, for other cells.
  bool loads_in_order(RaceCell* cell, uint32_t id) const;
  // Returns whether neither stores of the same value nor observations of writes are recorded for
  // this memory.
  template <bool kShared>
  bool keeps_no_values();
  // Like loads_in_order(), for a weak store. Requires keeps_no_values().
  bool stores_in_order(RaceCell* cell, uint32_t id) const;
  template <bool kShared>
  uint64_t location(uint64_t at) const;
  static uint64_t location_in(const BlockRaces& memory, uint64_t at);
  // Returns the index of the first byte that differs; `bytes` if all bytes are equal.
  static uint32_t first_difference(const unsigned char* a, const unsigned char* b, uint32_t bytes);
  // Returns whether the last write to a cell is morally strong with the access `now`.
  template <bool kShared>
  bool follows_strongly(const RaceCell& cell, const AccessRecord& now) const;
  // Returns the verdict on the accesses `before` and *now. `adjust` can change the verdict on
  // unordered accesses. Reports at most one race for each access *now. ordered_ avoids repeated
  // checks, since consecutive cells often have the same earlier instruction.
  template <bool kShared, class Adjust>
  RaceVerdict compare(uint32_t before, Now* now, const Adjust& adjust);
  // Changes *verdict to kOrdered if an observation orders the accesses, or to kWarn if only an
  // acquire fence is missing. PTX ISA, section 8.9.5, item 2 of causality order: a write precedes
  // an access to the same memory if a strong read has observed the write (8.9.2) and precedes the
  // access in base causality order.
  template <bool kShared>
  void judge_observed(const AccessRecord& record, uint32_t before, const Now& now,
                      RaceVerdict* verdict);
  // Records that the strong load `now` of a cell has observed the last write, if the write does not
  // already precede the load.
  template <bool kShared>
  void observe(const RaceCell& cell, const Now& now, uint32_t bytes);
  // Removes the observations of writes that are no longer in a cell.
  template <bool kShared>
  void forget_observers(const RaceCell& cell, uint32_t written, uint64_t at, uint32_t bytes);
  template <bool kShared>
  Observers& observers();
  // Returns whether a cell keeps an earlier access in addition to the new access: if the two are
  // unordered and their race is not reported.
  bool remains(const RaceVerdict& verdict) const {
    return verdict.kind != RaceVerdict::kOrdered && !verdict.is_reported(all_.least_);
  }
  template <bool kShared>
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>>& same_value();
  // Returns whether the warp of `access` is one of the warps that stored the same value in the word
  // at `at`.
  template <bool kShared>
  bool stored_the_value(uint64_t at, const AccessRecord& access);
  template <bool kShared>
  void load(RaceCell* cell, Now* now);
  __attribute__((noinline)) void list_readers(RaceCell* cell, const Now& now);
  template <bool kShared>
  bool is_read_before(uint32_t read, const Now& now);
  size_t num_readers() const { return size_t{kMostWarps} * block_.cluster->size(); }
  void add_reader(Readers* all, uint32_t id, const Now& now);
  // Checks a store to a cell of `bytes` bytes. `first` is the index of the first byte that the
  // store changes, or `bytes` if the store changes no byte.
  template <bool kShared>
  void store(RaceCell* cell, Now* now, uint32_t first, uint32_t bytes);
  template <bool kShared>
  void add_writer(uint64_t at, const AccessRecord& access);
  template <bool kShared>
  void report(uint32_t before_id, const Now& now_access, const RaceVerdict& verdict);

  // Asynchronous operations, in block_async_races.cc:
  static AccessKind kind_of(CopiedBytes::Kind kind);
  AccessRecord async_record(const Warp& warp, const Operation& operation, AccessKind kind,
                            uint32_t completion) const;
  // Adds a record of an access to the shared memory of the block memory_, or to global memory.
  // Returns the access by `lane`; the caller sets its address.
  Now begin_async(bool is_shared, const AccessRecord& record, unsigned lane);
  uint32_t add_shared(const AccessRecord& record);
  void wait_for_groups(const Warp& warp, int lane, const Operation& operation);
  // Records that a warp issues a wgmma.mma_async, and checks the warp's reads of shared memory: its
  // 16 rows of A, unless A is in registers, and all of B.
  void issue_product(Warp& warp, const Operation& operation);
  void wait_for_products(const Warp& warp, const Operation& operation);
  void check_products(const Warp& warp, const Operation& operation);
  void check_fences(const Warp& warp, const Operation& operation);
  void check_registers(const Warp& warp, const Operation& operation);
  // Records the initialisation of an mbarrier, or the end of a phase that an arrival completed.
  void note_mbarrier(const Warp& warp, const Operation& operation, const RaceTraits& traits,
                     uint32_t at);
  void note_phase(uint32_t at);
  // Records a fence.mbarrier_init, or a fence.proxy.async for shared memory, which applies to all
  // initialisations of the block's mbarriers that happened before the fence.
  void fence_inits(const Warp& warp);
  // Checks that the initialisation of an mbarrier happens before a use. The cells of the object do
  // not suffice for this check, since later accesses replace the initialisation.
  void check_order_of_inits(const Warp& warp, const Operation& operation, const RaceTraits& traits,
                            const Touched& touched);
  void report_init(const Init& init, const AccessRecord& now, uint32_t id, uint32_t at);
  // Checks that the initialisation of a bulk copy's mbarrier happens before the copy, and that a
  // fence.mbarrier_init or fence.proxy.async is between the two, since the async proxy counts the
  // bytes of the copy at the mbarrier.
  void check_init(const Warp& warp, const Operation& operation, const IssuedCopy& copy);
  // Records a fence of the tensormap proxy (PTX ISA, "membar, fence" and
  // "tensormap.cp_fenceproxy"): before a bulk copy reads a tensor map, writes to the map must be
  // released, and an acquire fence for the map must follow in the block of the bulk copy.
  void fence_maps(Warp& warp, const Operation& operation, const RaceTraits& traits);
  // Checks the store by tensormap.cp_fenceproxy to the tensor map at the address of lane 0.
  void write_map(Warp& warp, const Operation& operation);
  // Checks that a bulk copy may read its tensor map in global memory: the launch's writes to the
  // map must be released, and an acquire fence for the map must follow. Without such writes, an
  // acquire fence must precede the copy.
  void check_map(const Warp& warp, const Operation& operation, const IssuedCopy& copy);
  RaceVerdict judge_map(const AccessRecord& write, const Now& now,
                        const std::vector<const MapFence*>& fences) const;
  bool is_constant(uint64_t at) const;
  // Reports bulk copies that may still read the shared memory of the block when the block ends.
  void check_groups();
  // Checks that accesses by other blocks to the block's shared memory, and bulk copies that write
  // to this memory, happen before the block ends.
  void check_foreign();
  std::string line_text(uint32_t operation) const {
    return all_.instrumented_->line_text(operation);
  }
  std::string start_text(const AccessRecord& now, uint32_t id) const {
    return kernel_name() + ": " + all_.cells_.location_text(now, id) + ": ";
  }
  void add_finding(RaceLevel level, const std::string& first, const std::string& second,
                   const std::string& sentence);
  void add_finding(RaceLevel level, FindingLedger::Pair pair, const std::string& sentence);
  const std::string& kernel_name() const { return all_.cells_.launch(all_.launch_).kernel; }

  KernelRaces& all_;
  Block& block_;
  const bool checks_lanes_;  // whether races between lanes of a warp are reported
  const bool has_products_;  // whether the kernel has products of wgmma
  BlockOrder order_;
  const RaceJudge judge_;
  BlockRaces* memory_ = this;  // block whose shared memory is accessed
  AsyncOperations async_;
  std::map<uint32_t, Init> inits_;  // initialisations by offset of the mbarrier
  std::map<uint64_t, std::vector<MapFence>> map_fences_;  // fences by address of the tensor map
  std::unordered_map<uint32_t, Phase> phases_;            // phases by offset of the mbarrier
  // Indices into shared_records_ of accesses by other blocks, and of bulk copies that write shared
  // memory.
  std::vector<uint32_t> foreign_;
  uint32_t last_completion_ = 0;
  std::vector<WarpState> warps_;
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

}  // namespace kernkit::simulator::ptx
