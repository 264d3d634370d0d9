// SPDX-License-Identifier: Apache-2.0
#include "tools/block_races.h"

#include <cstring>

namespace kernkit::simulator::ptx {

BlockRaces::BlockRaces(KernelRaces& all, Block& block)
    : all_(all),
      block_(block),
      checks_lanes_(all.least_ <= RaceLevel::kWarn),
      has_products_(all.products_.any()),
      order_(all.order_),
      judge_(block, order_, all.order_, all.cells_, all.launch_, all.may_overlap_, checks_lanes_),
      warps_(block.warps.size()),
      old_(size_t{kMostTouchedOfAll} * 32 * kMostBytes) {
  for (WarpState& warp : warps_) {
    warp.records.resize(all.num_accesses_);
    warp.shared_records.resize(all.num_accesses_);
  }
  all_.blocks_[&block] = this;
  if (all_.is_async_) order_.note_barriers();
}

BlockRaces::~BlockRaces() {
  end_block();
  all_.blocks_.erase(&block_);
}

void BlockRaces::starts() {
  end_block();
  runs_ = true;
  const dim3 grid = block_.launch.grid;
  number_ =
      block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
  order_.start(number_, judge_.cluster_of(number_), warps_.size(), checks_lanes_);
  for (WarpState& warp : warps_) {
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

void BlockRaces::opens(uint32_t barrier) {
  if (barrier == Block::kClusterBarrier) return order_.open_cluster();
  order_.open(barrier);
}

void BlockRaces::before(Warp& warp, const Operation& operation) {
  const RaceTraits& traits = all_.traits_[operation.number];
  touched_count_ = 0;
  if (has_products_) check_products(warp, operation);
  if (traits.does == RaceTraits::kNothing) return;
  if (traits.does != RaceTraits::kAccesses) return note(warp, operation, traits);
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

void BlockRaces::check_stores(Warp& warp, const Operation& operation) {
  const RaceTraits& traits = all_.traits_[operation.number];
  for (int i = 0; i < touched_count_; ++i) {
    check(warp, operation, traits, traits.access, touched_[i], &old_[size_t{32} * kMostBytes * i]);
    if (!traits.is_mbarrier || touched_[i].space != Space::kShared) continue;
    each_bit(touched_[i].lanes, [&](int lane) {
      note_mbarrier(warp, operation, traits, static_cast<uint32_t>(touched_[i].at[lane]));
    });
  }
}

void BlockRaces::note(Warp& warp, const Operation& operation, const RaceTraits& traits) {
  WarpState& state = warps_[warp.number];
  switch (traits.does) {
    case RaceTraits::kFences:
      if (operation.mode != 0) return fence_maps(warp, operation, traits);
      return order_.fence(warp.number, traits);
    case RaceTraits::kWaitsForGrids:
      if (!all_.may_overlap_) return;
      order_.wait_for_earlier_work(warp.number);
      waits_ = true;
      return;
    case RaceTraits::kReleasesGrids:
      triggers_first_ |= all_.may_overlap_ && !order_.is_after_earlier_work(warp.number);
      return;
    case RaceTraits::kCommits: return state.copies.commit(warp.mask);
    case RaceTraits::kWaitsForCopies:
      return wait_for_copies(warp, static_cast<uint64_t>(operation.offset));
    case RaceTraits::kWaitsForAllCopies: return wait_for_all_copies(warp);
    case RaceTraits::kFencesProxies:
      if ((operation.mode & kFencesShared) != 0) fence_inits(warp);
      return order_.fence_proxies(warp.number, operation.mode);
    case RaceTraits::kFencesInits: return fence_inits(warp);
    case RaceTraits::kCommitsBulkCopies:
      each_bit(warp.mask, [&](int lane) { ++async_.groups(thread_of(warp, lane)).closed; });
      return;
    case RaceTraits::kWaitsForBulkCopies:
      each_bit(warp.mask, [&](int lane) { wait_for_groups(warp, lane, operation); });
      return;
    case RaceTraits::kIssuesProducts: return issue_product(warp, operation);
    case RaceTraits::kCommitsProducts: ++async_.product_groups(warp.number); return;
    case RaceTraits::kWaitsForProducts: return wait_for_products(warp, operation);
    default: return;
  }
}

void BlockRaces::wait_for_all_copies(const Warp& warp) {
  warps_[warp.number].copies.commit(warp.mask);
  wait_for_copies(warp, 0);
}

void BlockRaces::wait_for_copies(const Warp& warp, uint64_t pending) {
  warps_[warp.number].copies.wait(warp.mask, pending, [&](uint32_t record, bool is_global) {
    if (is_global && !all_.cells_.has(GlobalCells::with_lane(record, 0))) return;
    AccessRecord& copy = is_global ? all_.cells_.instruction(GlobalCells::with_lane(record, 0))
                                   : shared_records_[record];
    copy.time = order_.time(warp.number);
  });
}

void BlockRaces::end_block() {
  if (runs_ && all_.may_overlap_ && (triggers_first_ || !waits_)) {
    all_.cells_.triggers_first(all_.launch_);
  }
  runs_ = waits_ = triggers_first_ = false;
}

void BlockRaces::check_source(Warp& warp, const Operation& operation, const RaceTraits& traits) {
  const uint32_t mask = warp.mask;
  if ((warp.mask = lanes_that_load(warp, operation)) != 0) {
    const int count = find_touched(warp, source_of(operation), touched_);
    for (int i = 0; i < count; ++i) {
      check(warp, operation, traits, AccessKind::kLoad, touched_[i], nullptr);
    }
  }
  warp.mask = mask;
}

inline void BlockRaces::keep_old(const Touched& touched, uint32_t bytes, unsigned char* old) {
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

}  // namespace kernkit::simulator::ptx
