// SPDX-License-Identifier: Apache-2.0
#include "tools/block_races.h"

#include <algorithm>
#include <cstring>

#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

void BlockRaces::check(Warp& warp, const Operation& operation, const RaceTraits& traits,
                       AccessKind kind, const Touched& touched, const unsigned char* old) {
  choose_memory(touched);
  if (touched.space == Space::kGlobal) {
    check_in<false>(warp, operation, traits, kind, touched, old);
  } else if (touched.space == Space::kShared) {
    check_in<true>(warp, operation, traits, kind, touched, old);
  }
}

template <bool kShared>
void BlockRaces::check_bytes(Now* now, uint64_t at, uint32_t bytes) {
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

template <bool kShared>
inline uint32_t BlockRaces::record_now(const Warp& warp, const Operation& operation,
                                       const RaceTraits& traits, AccessKind kind) {
  const bool is_copy = traits.access == AccessKind::kCopy;
  if (checks_lanes_) order_.tick(warp.number);
  const AccessRecord now{all_.launch_,
                         operation.number,
                         number_,
                         is_copy ? AccessRecord::kPending : order_.time(warp.number),
                         static_cast<uint8_t>(warp.number),
                         kind,
                         traits.scope,
                         traits.element_bytes};
  WarpState& state = warps_[warp.number];
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
inline void BlockRaces::check_in(const Warp& warp, const Operation& operation,
                                 const RaceTraits& traits, AccessKind kind, const Touched& touched,
                                 const unsigned char* old) {
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
          is_known ? first_difference(before + size_t{i} * step, memory_at(kSpace, now.at), step)
                   : 0;
      store<kShared>(cell + i, &now, first, step);
    }
    if (traits.is_strong()) {
      order_.write(warp.number, lane, location<kShared>(at), traits,
                   continues && kind == AccessKind::kAtomic);
    }
  }
}

template <bool kShared>
inline bool BlockRaces::check_row(const RaceTraits& traits, uint32_t bytes, uint32_t record,
                                  const AccessRecord& now_record, const Touched& touched,
                                  const unsigned char* old) {
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
    Now now{&now_record, id, lane, begin + uint64_t{i} * kWordBytes};
    if (kind == AccessKind::kLoad) {
      load<kShared>(cell, &now);
    } else {
      const uint32_t first =
          first_difference(old + size_t{i} * kWordBytes, memory_at(kSpace, now.at), kWordBytes);
      store<kShared>(cell, &now, first, kWordBytes);
    }
  }
  return true;
}

inline bool BlockRaces::loads_in_order(RaceCell* cell, uint32_t id) const {
  if ((cell->also_written | cell->last_read) != 0 || !is_before_now(cell->written)) {
    return false;
  }
  if (is_before_now(cell->first_read)) {
    cell->first_read = id;
    return true;
  }
  return !checks_lanes_ &&
         cell->first_read >> 5 == id >> 5;  // read by another lane of the operation
}

template <bool kShared>
inline bool BlockRaces::keeps_no_values() {
  return same_value<kShared>().empty() && observers<kShared>().is_empty();
}

inline bool BlockRaces::stores_in_order(RaceCell* cell, uint32_t id) const {
  if ((cell->also_written | cell->last_read) != 0 || !is_before_now(cell->written) ||
      !is_before_now(cell->first_read)) {
    return false;
  }
  *cell = {id, 0, 0, 0};
  return true;
}

template <bool kShared>
inline uint64_t BlockRaces::location(uint64_t at) const {
  return kShared ? location_in(*memory_, at) : at;
}

uint64_t BlockRaces::location_in(const BlockRaces& memory, uint64_t at) {
  return memory.block_.cluster->size() == 1 ? BlockOrder::shared_location(at)
                                            : BlockOrder::cluster_location(memory.number_, at);
}

inline uint32_t BlockRaces::first_difference(const unsigned char* a, const unsigned char* b,
                                             uint32_t bytes) {
  uint32_t i = 0;
  while (i < bytes && a[i] == b[i]) ++i;
  return i;
}

template <bool kShared>
inline bool BlockRaces::follows_strongly(const RaceCell& cell, const AccessRecord& now) const {
  const uint32_t last = cell.also_written != 0 ? cell.also_written : cell.written;
  return last != 0 && judge_.are_morally_strong(record_of<kShared>(last), now);
}

template <bool kShared, class Adjust>
inline RaceVerdict BlockRaces::compare(uint32_t before, Now* now, const Adjust& adjust) {
  if (before >> 5 == ordered_) return {};
  const AccessRecord& record = record_of<kShared>(before);
  RaceVerdict verdict = judge_.judge({record, before & 31}, {*now->record, now->lane}, kShared);
  if (verdict.is_reported(all_.least_) && !observers<kShared>().is_empty()) {
    judge_observed<kShared>(record, before, *now, &verdict);
    // Leaves ordered_ unchanged: an observation orders the accesses in this cell only. Another
    // cell with the same earlier access may lack the observation.
    if (verdict.kind == RaceVerdict::kOrdered) return verdict;
  }
  if (verdict.kind == RaceVerdict::kOrdered) {
    const bool same_warp = record.warp == now->record->warp && record.block == number_ &&
                           record.launch == all_.launch_;
    if (!checks_lanes_ || !same_warp) ordered_ = before >> 5;
    return verdict;
  }
  adjust(record, &verdict);
  if (!now->reported && verdict.is_reported(all_.least_)) {
    report<kShared>(before, *now, verdict);
    now->reported = true;
  }
  return verdict;
}

template <bool kShared>
void BlockRaces::judge_observed(const AccessRecord& record, uint32_t before, const Now& now,
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

template <bool kShared>
void BlockRaces::observe(const RaceCell& cell, const Now& now, uint32_t bytes) {
  const uint32_t last = cell.also_written != 0 ? cell.also_written : cell.written;
  const AccessRecord &write = record_of<kShared>(last), &read = *now.record;
  if (write.launch != read.launch || (write.block == read.block && write.warp == read.warp) ||
      order_.has_acquired(read.warp, write.block, write.warp, write.time)) {
    return;
  }
  observers<kShared>().add(now.at, bytes, last, {read.block, now.lane, read.time, read.warp});
}

template <bool kShared>
void BlockRaces::forget_observers(const RaceCell& cell, uint32_t written, uint64_t at,
                                  uint32_t bytes) {
  observers<kShared>().remove(at, bytes, [&](uint32_t write) {
    return write == written || (write != cell.written && write != cell.also_written);
  });
}

template <bool kShared>
inline Observers& BlockRaces::observers() {
  if constexpr (kShared) return memory_->observers_;
  return all_.observers_;
}

template <bool kShared>
inline std::unordered_map<uint64_t, std::unordered_set<uint64_t>>& BlockRaces::same_value() {
  if constexpr (kShared) return memory_->same_value_;
  return all_.same_value_;
}

template <bool kShared>
inline bool BlockRaces::stored_the_value(uint64_t at, const AccessRecord& access) {
  const auto& all = same_value<kShared>();
  if (all.empty()) return false;
  const auto writers = all.find(at);
  return writers != all.end() && writers->second.count(key_of(access.block, access.warp)) != 0;
}

template <bool kShared>
inline void BlockRaces::load(RaceCell* cell, Now* now) {
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
    if (checks_lanes_) cell->last_read = now->id;
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

void BlockRaces::list_readers(RaceCell* cell, const Now& now) {
  std::vector<Readers>& all_readers = memory_->readers_;
  const auto list = static_cast<uint32_t>(all_readers.size());
  all_readers.emplace_back(2 * num_readers());
  for (const uint32_t id : {cell->first_read, cell->last_read, now.id}) {
    add_reader(&all_readers[list], id, now);
  }
  cell->last_read = list | kList;
}

template <bool kShared>
inline bool BlockRaces::is_read_before(uint32_t read, const Now& now) {
  if (read >> 5 == ordered_) return true;
  const AccessRecord& record = record_of<kShared>(read);
  if (record.is_async() && record.launch == all_.launch_) {
    return judge_.has_completed(now.record->warp, record);
  }
  if (record.time == AccessRecord::kPending) return false;
  // Only the order of the two reads matters here, not the level of a conflict.
  bool is_before;
  if (record.launch != all_.launch_) {
    is_before = judge_.judge_launches(record, *now.record, false).kind == RaceVerdict::kOrdered;
  } else if (record.block == number_ && record.warp == now.record->warp) {
    is_before = order_.lane_has_acquired(record.warp, now.lane, read & 31, record.time);
    if (checks_lanes_) return is_before;
  } else {
    is_before = order_.has_acquired(now.record->warp, record.block, record.warp, record.time);
  }
  // Leaves ordered_ unchanged for an asynchronous access, which can need a fence in addition to
  // the order.
  if (is_before && !now.record->is_async()) ordered_ = read >> 5;
  return is_before;
}

inline void BlockRaces::add_reader(Readers* all, uint32_t id, const Now& now) {
  const AccessRecord& record = record_of<true>(id);
  const size_t warp = record.warp + size_t{kMostWarps} * (record.block % block_.cluster->size());
  uint32_t& first = (*all)[warp];
  const bool replaces = first == 0 || (id == now.id && is_read_before<true>(first, now));
  (replaces ? first : (*all)[num_readers() + warp]) = id;
}

template <bool kShared>
inline void BlockRaces::store(RaceCell* cell, Now* now, uint32_t first, uint32_t bytes) {
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
        now->observes && judge_.are_morally_strong(record_of<kShared>(before), *now->record);
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
    for (const uint32_t reader : memory_->readers_[cell->last_read & ~kList]) compare_read(reader);
  } else {
    compare_read(cell->last_read);
  }
  if (!same && !same_value<kShared>().empty()) same_value<kShared>().erase(at);
  *cell = {kept != 0 ? kept : now->id, kept != 0 ? now->id : 0, reads[0], reads[1]};
  if (!observers<kShared>().is_empty()) forget_observers<kShared>(*cell, now->id, at, bytes);
}

template <bool kShared>
void BlockRaces::add_writer(uint64_t at, const AccessRecord& access) {
  same_value<kShared>()[at].insert(key_of(access.block, access.warp));
}

template <bool kShared>
void BlockRaces::report(uint32_t before_id, const Now& now_access, const RaceVerdict& verdict) {
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

template void BlockRaces::check_bytes<true>(Now*, uint64_t, uint32_t);
template void BlockRaces::check_bytes<false>(Now*, uint64_t, uint32_t);
template void BlockRaces::report<false>(uint32_t, const Now&, const RaceVerdict&);

}  // namespace kernkit::simulator::ptx
