// SPDX-License-Identifier: Apache-2.0
#include "tools/global_races.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ptx/machine/fault.h"
#include "tools/accesses.h"
#include "tools/vector_clocks.h"

namespace kernkit::simulator::ptx {

class GlobalRaces::OfBlock : public BlockHooks {
 public:
  OfBlock(GlobalRaces& all, Block& block)
      : all_(all), block_(block), instrumented_(*all.cells_.launch(all.launch_).instrumented) {}
  ~OfBlock() override { end_block(); }

  void starts() override {
    end_block();
    runs_ = true;
    clocks_ = {};
    if (all_.of_lanes_) clocks_.track_lanes();
    barriers_.clear();
    for (OfWarp& warp : warps_) warp = {};
    const dim3 grid = block_.launch.grid;
    number_ =
        block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
  }
  void synchronises(const Warp& warp, uint32_t lanes) override {
    clocks_.synchronise(warp.number, lanes);
  }
  void arrives(const Warp& warp, uint32_t barrier, bool only) override {
    clocks_.arrive(warp.number, barrier, only);
    Barrier& arrivals = barriers_[barrier];
    join(&arrivals.acquired, warps_[warp.number].acquired);
    join(&arrivals.fenced, warps_[warp.number].fenced);
    if (!only) arrivals.waiting |= kLane[warp.number];
  }
  void opens(uint32_t barrier) override {
    clocks_.open(barrier);
    const Barrier arrivals = std::move(barriers_[barrier]);
    barriers_.erase(barrier);
    for (uint32_t remaining = arrivals.waiting; remaining != 0; remaining &= remaining - 1) {
      OfWarp& warp = warps_[__builtin_ctz(remaining)];
      join(&warp.acquired, arrivals.acquired);
      join(&warp.fenced, arrivals.fenced);
    }
  }

  void before(Warp& warp, const Operation& operation) override {
    touched_.clear();
    old_.clear();
    AccessKind kind = instrumented_.kernel.origins[operation.number].access;
    if (instrumented_.kernel.origins[operation.number].fence_scope() != ThreadScope::kNone)
      fence(warp, operation);
    if (kind == AccessKind::kNone) {
      if (all_.may_overlap_) note(instrumented_.kernel.origins[operation.number], warp.number);
      return;
    }
    const uint32_t mask = warp.mask;
    Touched touched[kMostTouched];
    int count = 0;
    if (kind != AccessKind::kCopy) {
      count = find_touched(warp, operation, touched);
    } else if ((warp.mask = lanes_that_load(warp, operation)) != 0) {
      count = find_touched(warp, source_of(operation), touched);
    }
    warp.mask = mask;
    for (int i = 0; i < count; ++i) {
      if (touched[i].space == Space::kGlobal) add(touched[i], operation.bytes);
    }
  }

  // Compares memory after a store with the old bytes, to find the changed bytes.
  void after(Warp& warp, const Operation& operation) override {
    if (touched_.empty()) return;
    const AccessKind kind = instrumented_.kernel.origins[operation.number].access;
    const bool loads = kind == AccessKind::kLoad || kind == AccessKind::kCopy;
    const ThreadScope ordered = instrumented_.kernel.origins[operation.number].ordered_scope();
    if (ordered != ThreadScope::kNone && kind != AccessKind::kStore)
      acquire_at(warp.number, ordered);
    if (all_.of_lanes_) clocks_.tick(warp.number);
    const AccessRecord now{all_.launch_,
                           operation.number,
                           number_,
                           clocks_.time(warp.number),
                           static_cast<uint8_t>(warp.number),
                           ordered};
    const uint32_t instruction = all_.cells_.add(now);
    const unsigned char* old = old_.data();
    for (const Lane& touched_lane : touched_) {
      const uint32_t access_id = GlobalCells::with_lane(instruction, touched_lane.lane);
      lane_ = static_cast<unsigned>(touched_lane.lane);
      bool reported = false;
      for (uint32_t i = 0; i < operation.bytes; ++i) {
        GlobalCell& cell = all_.cells_.at(touched_lane.address + i);
        const auto* byte = reinterpret_cast<const unsigned char*>(touched_lane.address + i);
        reported = loads ? load(&cell, now, access_id, touched_lane.address + i, reported)
                   : old[i] != *byte
                       ? store(&cell, now, access_id, touched_lane.address + i, reported)
                       : keep(&cell, now, access_id, reported);
      }
      old += operation.bytes;
    }
    if (ordered != ThreadScope::kNone && !loads) release_at(warp.number, ordered);
  }

 private:
  struct Lane {
    uint64_t address;
    int lane;
  };
  struct OfWarp {
    RemoteClock acquired;  // times of warps of other blocks that happened before
    RemoteClock fenced;    // clock at the last device-wide fence, including the own block
  };
  struct Barrier {
    RemoteClock acquired, fenced;
    uint32_t waiting = 0;
  };

  static constexpr uint64_t kEarlierWork = UINT64_MAX;  // key for the end of earlier work
  static constexpr const char* kNoWait =
      ", with no cudaGridDependencySynchronize() between that orders them";

  void add(const Touched& touched, uint32_t bytes) {
    for (uint32_t remaining = touched.lanes; remaining != 0; remaining &= remaining - 1) {
      const int lane = __builtin_ctz(remaining);
      const uint64_t at = touched.at[lane];
      if (at < range_.begin || at >= range_.end) range_ = block_.launch.memory.range_of(at);
      // The access is a fault, which the machine reports.
      if (at < range_.begin || at >= range_.end || range_.end - at < bytes) continue;
      touched_.push_back({at, lane});
      const auto* memory = reinterpret_cast<const unsigned char*>(at);
      old_.insert(old_.end(), memory, memory + bytes);
    }
  }

  // The end of earlier work that a launch may overlap is an entry in a warp's `acquired`, so that
  // barriers, fences and atomics propagate the entry.
  void note(const Origin& origin, unsigned warp) {
    if (origin.has_effect(Effect::kWaitsForGrids)) {
      warps_[warp].acquired[kEarlierWork] = 1;
      waits_ = true;
    } else if (origin.has_effect(Effect::kReleasesGrids) && !is_after_earlier_work(warp)) {
      triggers_first_ = true;
    }
  }
  bool is_after_earlier_work(unsigned warp) const {
    return warps_[warp].acquired.count(kEarlierWork) != 0;
  }
  // A block without a trigger lets later work begin when the block ends.
  void end_block() {
    if (runs_ && all_.may_overlap_ && (triggers_first_ || !waits_)) {
      all_.cells_.triggers_first(all_.launch_);
    }
    runs_ = waits_ = triggers_first_ = false;
  }

  void fence(const Warp& warp, const Operation& operation) {
    if (instrumented_.kernel.origins[operation.number].fence_scope() != ThreadScope::kDevice)
      return;
    OfWarp& state = warps_[warp.number];
    state.fenced = state.acquired;
    const VectorClock& clock = clocks_.clock(warp.number);
    for (unsigned w = 0; w < block_.warps.size(); ++w)
      state.fenced[key_of(number_, w)] = clock.times[w];
    clocks_.tick(warp.number);
  }
  void acquire_at(unsigned warp, ThreadScope reach) {
    for (const Lane& touched_lane : touched_) {
      clocks_.acquire(warp, touched_lane.address);
      const auto released = reach == ThreadScope::kDevice
                                ? all_.released_.find(touched_lane.address)
                                : all_.released_.end();
      if (released != all_.released_.end()) join(&warps_[warp].acquired, released->second);
    }
  }
  void release_at(unsigned warp, ThreadScope reach) {
    for (const Lane& touched_lane : touched_) {
      clocks_.release(warp, touched_lane.address);
      if (reach == ThreadScope::kDevice && !warps_[warp].fenced.empty()) {
        join(&all_.released_[touched_lane.address], warps_[warp].fenced);
      }
    }
  }

  bool races(uint32_t access_id, const AccessRecord& now) const {
    if (access_id == 0) return false;
    const AccessRecord& before = all_.cells_.instruction(access_id);
    const bool both_ordered =
        before.ordered == ThreadScope::kDevice && now.ordered == ThreadScope::kDevice;
    if (before.launch != now.launch) {
      if (both_ordered) return false;
      const WorkId& work = all_.cells_.launch(before.launch).work;
      return !is_before(work) || (may_run(work) && !is_after_earlier_work(now.warp));
    }
    if (before.block == now.block) {
      if (before.ordered != ThreadScope::kNone && now.ordered != ThreadScope::kNone) return false;
      if (before.warp == now.warp) {
        return before.time != now.time &&
               !clocks_.lane_has_acquired(now.warp, lane_, access_id & 31, before.time);
      }
      return !clocks_.has_acquired(now.warp, before.warp, before.time);
    }
    if (both_ordered) return false;
    const RemoteClock& acquired = warps_[now.warp].acquired;
    const auto time = acquired.find(key_of(before.block, before.warp));
    return time == acquired.end() || time->second < before.time;
  }
  bool may_run(const WorkId& work) const {
    return all_.may_overlap_ && all_.cells_.launch(all_.launch_).may_run_with(work);
  }
  bool load(GlobalCell* cell, const AccessRecord& now, uint32_t access_id, uint64_t at,
            bool reported) {
    if (!reported && !cell->same_value_written && races(cell->written, now)) {
      reported = report(cell->written, now, access_id, at);
    }
    // Keeps the first read that is unordered with this read.
    const bool same_instruction = all_.of_lanes_ && cell->first_read >> 5 == access_id >> 5;
    if (cell->first_read == 0 || (!same_instruction && !races(cell->first_read, now))) {
      cell->first_read = access_id;
    } else {
      cell->last_read = access_id;
    }
    return reported;
  }
  bool store(GlobalCell* cell, const AccessRecord& now, uint32_t access_id, uint64_t at,
             bool reported) {
    for (const uint32_t before : {cell->written, cell->first_read, cell->last_read}) {
      if (!reported && races(before, now)) reported = report(before, now, access_id, at);
    }
    *cell = {};
    cell->written = access_id;
    return reported;
  }
  bool keep(GlobalCell* cell, const AccessRecord& now, uint32_t access_id, bool reported) {
    cell->same_value_written = races(cell->written, now);
    if (!cell->same_value_written) cell->written = access_id;
    return reported;
  }

  // Returns whether the race is already recorded.
  bool report(uint32_t access_id, const AccessRecord& now, uint32_t id_now, uint64_t at) {
    const GlobalCells& cells = all_.cells_;
    const LaunchRecord& launch = cells.launch(now.launch);
    const AccessRecord& before = cells.instruction(access_id);
    const bool of_lanes =
        before.launch == now.launch && before.block == now.block && before.warp == now.warp;
    auto& races = of_lanes ? all_.races_.of_lanes : all_.races_.of_warps;
    FindingCount& race = races[cells.pair_of(launch.kernel, before, now)];
    ++race.count;
    if (race.count > 1 && race.block <= number_) return true;
    race.block = number_;
    race.sentence =
        launch.kernel + ": " + cells.location_text(id_now) + ": " +
        cells.race_text(access_id, now, at, block_.launch.memory.range_of(at)) +
        (may_run(cells.launch(before.launch).work) ? kNoWait : unordered_text(of_lanes));
    return true;
  }

  GlobalRaces& all_;
  Block& block_;
  const InstrumentedKernel& instrumented_;
  VectorClocks clocks_;
  std::map<uint32_t, Barrier> barriers_;
  OfWarp warps_[kMostWarps];
  std::vector<Lane> touched_;
  std::vector<unsigned char> old_;  // bytes at the lanes' addresses before the operation
  // Whether the current block has run, waits for earlier work, and lets later work begin before
  // that.
  bool runs_ = false, waits_ = false, triggers_first_ = false;
  Range range_;
  uint64_t number_ = 0;  // number of the current block
  unsigned lane_ = 0;    // lane of the current access
};

GlobalRaces::GlobalRaces(std::shared_ptr<const InstrumentedKernel> instrumented, std::string kernel,
                         std::vector<RaceLedger*> ledgers, dim3 grid, dim3 block,
                         const WorkClock* dependent)
    : ledgers_(std::move(ledgers)),
      of_lanes_(wants_lanes(ledgers_)),
      cells_(GlobalCells::of_process()) {
  LaunchRecord launch{std::move(kernel), std::move(instrumented), work_now(), grid, block};
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
GlobalRaces::~GlobalRaces() { races_.add_to(ledgers_); }

std::unique_ptr<BlockHooks> GlobalRaces::block_hooks(Block& block) {
  return std::make_unique<OfBlock>(*this, block);
}

}  // namespace kernkit::simulator::ptx
