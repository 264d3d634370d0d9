// SPDX-License-Identifier: Apache-2.0
#include "tools/shared_races.h"

#include <algorithm>
#include <cstring>

#include "ptx/machine/fault.h"
#include "schedule/schedule.h"
#include "tools/accesses.h"
#include "tools/vector_clocks.h"

namespace kernkit::simulator::ptx {

class SharedRaces::OfBlock : public BlockHooks {
  struct Access {
    uint32_t time = 0;  // 0 if the byte was never accessed
    uint32_t operation = 0;
    uint8_t warp = 0, lane = 0;
    bool ordered = false;  // whether the access is atomic, or ordered like an atomic
  };

  // The accesses to one byte. Several readers are kept in a separate list.
  struct Cell {
    Access written, read;
    uint32_t same_writers = 0;  // warps that stored the same value afterwards [mask]
    uint32_t readers = 0;       // index into readers_; 0 without a list
  };

 public:
  OfBlock(SharedRaces& all, Block& block)
      : all_(all),
        block_(block),
        of_lanes_(wants_lanes(all.ledgers_)),
        cells_(block.shared.size()),
        old_(size_t{32} * kMostBytes) {}
  ~OfBlock() override { races_.add_to(all_.ledgers_); }

  void starts() override {
    clocks_ = {};
    if (of_lanes_) clocks_.track_lanes();
    std::fill(cells_.begin(), cells_.end(), Cell{});
    readers_.assign(1, {});
    number_ =
        block_.index.x + uint64_t{block_.launch.grid.x} *
                             (block_.index.y + uint64_t{block_.launch.grid.y} * block_.index.z);
  }
  void synchronises(const Warp& warp, uint32_t lanes) override {
    clocks_.synchronise(warp.number, lanes);
  }
  void arrives(const Warp& warp, uint32_t barrier, bool only) override {
    clocks_.arrive(warp.number, barrier, only);
  }
  void opens(uint32_t barrier) override { clocks_.open(barrier); }

  // Keeps the old bytes of a store, to find the changed bytes after the store.
  void before(Warp& warp, const Operation& operation) override {
    touched_.lanes = 0;
    if (all_.instrumented_.kernel.origins[operation.number].access == AccessKind::kNone) return;
    Touched touched[kMostTouched];
    const int count = find_touched(warp, operation, touched);
    for (int i = 0; i < count; ++i) {
      if (touched[i].space == Space::kShared) touched_ = touched[i];
    }
    for (uint32_t remaining = touched_.lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      const uint64_t at = touched_.at[lane];
      if (at > cells_.size() || cells_.size() - at < operation.bytes) {
        touched_.lanes &= ~kLane[lane];  // the access is a fault
      } else {
        std::memcpy(&old_[lane * kMostBytes], &block_.shared[at], operation.bytes);
      }
    }
  }

  void after(Warp& warp, const Operation& operation) override {
    const AccessKind kind = all_.instrumented_.kernel.origins[operation.number].access;
    if (of_lanes_ && touched_.lanes != 0) clocks_.tick(warp.number);
    for (uint32_t remaining = touched_.lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      const uint64_t at = touched_.at[lane];
      const bool loads = kind == AccessKind::kLoad;
      const bool ordered =
          all_.instrumented_.kernel.origins[operation.number].ordered_scope() != ThreadScope::kNone;
      if (ordered && (loads || kind == AccessKind::kAtomic)) clocks_.acquire(warp.number, at);
      const Access now{clocks_.time(warp.number), operation.number,
                       static_cast<uint8_t>(warp.number), static_cast<uint8_t>(lane), ordered};
      const unsigned char* old = &old_[lane * kMostBytes];
      bool reported = false;
      for (uint32_t i = 0; i < operation.bytes; ++i) {
        const bool changes = kind == AccessKind::kCopy || old[i] != block_.shared[at + i];
        Cell& cell = cells_[at + i];
        reported = loads     ? load(&cell, now, at + i, reported)
                   : changes ? store(&cell, now, at + i, reported)
                             : keep(&cell, now, reported);
      }
      if (ordered && !loads) clocks_.release(warp.number, at);
    }
  }

 private:
  static constexpr size_t kMostBytes = 32;  // largest access of a lane [bytes]

  bool races(const Access& before, const Access& now) const {
    if (before.time == 0 || (before.ordered && now.ordered)) return false;
    if (before.warp == now.warp && before.time == now.time) return false;  // one instruction
    return !is_before(before, now);
  }
  bool is_before(const Access& before, const Access& now) const {
    return before.warp == now.warp
               ? clocks_.lane_has_acquired(now.warp, now.lane, before.lane, before.time)
               : clocks_.has_acquired(now.warp, before.warp, before.time);
  }
  bool load(Cell* cell, const Access& now, uint64_t at, bool reported) {
    const bool wrote_the_same = (cell->same_writers >> now.warp & 1) != 0;
    if (!reported && !wrote_the_same && races(cell->written, now)) {
      reported = report(cell->written, now, at);
    }
    if (cell->readers != 0) {
      add_reader(cell->readers, now);
    } else if (cell->read.time == 0 || is_before(cell->read, now)) {
      cell->read = now;
    } else {
      cell->readers = static_cast<uint32_t>(readers_.size());
      readers_.emplace_back(kMostWarps * (of_lanes_ ? 2 : 1));
      add_reader(cell->readers, cell->read);
      add_reader(cell->readers, now);
    }
    return reported;
  }
  // Keeps, for each warp, the first reader that is unordered with later readers, and the last
  // reader.
  void add_reader(uint32_t readers, const Access& now) {
    std::vector<Access>& all = readers_[readers];
    Access& first = all[now.warp];
    (first.time == 0 || is_before(first, now) ? first : all[kMostWarps + now.warp]) = now;
  }
  bool store(Cell* cell, const Access& now, uint64_t at, bool reported) {
    if (!reported && races(cell->written, now)) reported = report(cell->written, now, at);
    if (!reported && races(cell->read, now)) reported = report(cell->read, now, at);
    if (cell->readers != 0) {
      for (const Access& reader : readers_[cell->readers]) {
        if (!reported && races(reader, now)) reported = report(reader, now, at);
      }
    }
    *cell = {};
    cell->written = now;
    return reported;
  }
  static bool keep(Cell* cell, const Access& now, bool reported) {
    cell->same_writers |= 1u << now.warp;
    return reported;
  }

  const char* access_text(const Access& access) const {
    return ptx::access_text(all_.instrumented_.kernel.origins[access.operation].access);
  }
  std::string line(const Access& access) const {
    return all_.instrumented_.line_text(access.operation);
  }
  // Returns whether the race is already recorded.
  bool report(const Access& before, const Access& now, uint64_t at) {
    const std::string first = access_text(before), second = access_text(now);
    const bool of_lanes = before.warp == now.warp;
    FindingCount& race =
        (of_lanes
             ? races_.of_lanes
             : races_.of_warps)[{block_.launch.name, first + line(before), second + line(now)}];
    ++race.count;
    if (race.count > 1 && race.block <= number_) return true;
    const auto thread = [](const Access& access) { return 32u * access.warp + access.lane; };
    race.block = number_;
    race.sentence =
        location_text(block_, thread(now)) +
        race_text(second, " at byte " + std::to_string(at) + " of shared memory", line(now),
                  first + " by thread " + thread_text(block_, thread(before)) + line(before)) +
        unordered_text(of_lanes);
    return true;
  }

  SharedRaces& all_;
  Block& block_;
  const bool of_lanes_;  // whether races between lanes of a warp are reported
  VectorClocks clocks_;
  std::vector<Cell> cells_;
  std::vector<std::vector<Access>> readers_{1};
  std::vector<unsigned char> old_;  // bytes at the lanes' addresses before a store
  Touched touched_;
  uint64_t number_ = 0;  // number of the current block
  RaceCounts races_;
};

std::unique_ptr<BlockHooks> SharedRaces::block_hooks(Block& block) {
  return std::make_unique<OfBlock>(*this, block);
}

}  // namespace kernkit::simulator::ptx
