// SPDX-License-Identifier: Apache-2.0
#include "ptx/tools/global_races.h"

#include <cstring>
#include <utility>

#include "execution/schedule.h"
#include "ptx/machine/fault.h"
#include "ptx/tools/clocks.h"
#include "ptx/tools/touched.h"

namespace kernkit::cuda_on_cpu::ptx {

GlobalCells& GlobalCells::of_process() {
  static auto& all = *new GlobalCells;
  return all;
}

// What is left of kernels that are before this one is of no use; nor is it of many others.
uint32_t GlobalCells::begin(LaunchSeen launch) {
  const bool all_before = std::all_of(launches_.begin(), launches_.end(),
                                      [](const LaunchSeen& one) { return is_before(one.work); });
  if (all_before || pages_.size() > kMostPages || instructions_.size() > kMostInstructions / 2) {
    launches_.clear();
    forget_accesses();
  }
  launches_.push_back(std::move(launch));
  return static_cast<uint32_t>(launches_.size() - 1);
}

void GlobalCells::forget_accesses() {
  instructions_.resize(1);
  pages_.clear();
  last_ = nullptr;
}

uint32_t GlobalCells::add(const Instruction& instruction) {
  if (instructions_.size() == kMostInstructions) forget_accesses();  // of one launch
  instructions_.push_back(instruction);
  return static_cast<uint32_t>(instructions_.size() - 1);
}

GlobalCell& GlobalCells::at(uint64_t address) {
  const uint64_t number = address / kPage;
  if (last_ == nullptr || number != last_number_) {
    std::unique_ptr<GlobalCell[]>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<GlobalCell[]>(kPage);
    last_number_ = number;
    last_ = page.get();
  }
  return last_[address % kPage];
}

class GlobalRaces::OfBlock : public BlockWatch {
 public:
  OfBlock(GlobalRaces& all, Block& block)
      : all_(all), block_(block), watched_(*all.cells_.launch(all.launch_).watched) {}

  void starts() override {
    clocks_ = {};
    barriers_.clear();
    for (OfWarp& warp : warps_) warp = {};
    const dim3 grid = block_.launch.grid;
    number_ =
        block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
  }
  void arrives(const Warp& warp, uint32_t barrier, bool only) override {
    clocks_.arrive(warp.number, barrier, only);
    Barrier& one = barriers_[barrier];
    hear(&one.known, warps_[warp.number].known);
    hear(&one.fenced, warps_[warp.number].fenced);
    if (!only) one.waiting |= kLane[warp.number];
  }
  void opens(uint32_t barrier) override {
    clocks_.open(barrier);
    const Barrier one = std::move(barriers_[barrier]);
    barriers_.erase(barrier);
    for (uint32_t left = one.waiting; left != 0; left &= left - 1) {
      OfWarp& warp = warps_[__builtin_ctz(left)];
      hear(&warp.known, one.known);
      hear(&warp.fenced, one.fenced);
    }
  }

  void before(Warp& warp, const Operation& operation) override {
    touched_.clear();
    old_.clear();
    AccessKind kind = watched_.accesses[operation.number];
    if (watched_.fences[operation.number] != Reach::kNone) fence(warp, operation);
    if (kind == AccessKind::kNone) return;
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

  // What a store changes is known when it is done.
  void after(Warp& warp, const Operation& operation) override {
    if (touched_.empty()) return;
    const AccessKind kind = watched_.accesses[operation.number];
    const bool loads = kind == AccessKind::kLoad || kind == AccessKind::kCopy;
    const Reach ordered = watched_.ordered[operation.number];
    if (ordered != Reach::kNone && kind != AccessKind::kStore) hear_at(warp.number, ordered);
    const Instruction now{all_.launch_,
                          operation.number,
                          number_,
                          clocks_.time(warp.number),
                          static_cast<uint8_t>(warp.number),
                          ordered};
    const uint32_t instruction = all_.cells_.add(now);
    const unsigned char* old = old_.data();
    for (const Lane& one : touched_) {
      const uint32_t seen = GlobalCells::with_lane(instruction, one.lane);
      bool reported = false;
      for (uint32_t i = 0; i < operation.bytes; ++i) {
        GlobalCell& cell = all_.cells_.at(one.address + i);
        const auto* place = reinterpret_cast<const unsigned char*>(one.address + i);
        reported = loads              ? load(&cell, now, seen, one.address + i, reported)
                   : old[i] != *place ? store(&cell, now, seen, one.address + i, reported)
                                      : keep(&cell, now, seen, reported);
      }
      old += operation.bytes;
    }
    if (ordered != Reach::kNone && !loads) say_at(warp.number, ordered);
  }

 private:
  struct Lane {
    uint64_t address;
    int lane;
  };
  struct OfWarp {
    Known known;   // of other blocks
    Known fenced;  // what it knew at its last fence for the device, its own block's among it
  };
  struct Barrier {
    Known known, fenced;
    uint32_t waiting = 0;
  };

  void add(const Touched& touched, uint32_t bytes) {
    for (uint32_t left = touched.lanes; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      const uint64_t at = touched.at[lane];
      if (at < range_.begin || at >= range_.end) range_ = block_.launch.memory.range_of(at);
      if (at < range_.begin || at >= range_.end || range_.end - at < bytes) continue;  // a fault
      touched_.push_back({at, lane});
      const auto* place = reinterpret_cast<const unsigned char*>(at);
      old_.insert(old_.end(), place, place + bytes);
    }
  }

  void fence(const Warp& warp, const Operation& operation) {
    if (watched_.fences[operation.number] != Reach::kDevice) return;
    OfWarp& one = warps_[warp.number];
    one.fenced = one.known;
    const Clock& clock = clocks_.clock(warp.number);
    for (unsigned w = 0; w < block_.warps.size(); ++w) one.fenced[key_of(number_, w)] = clock.of[w];
    clocks_.tick(warp.number);
  }
  void hear_at(unsigned warp, Reach reach) {
    for (const Lane& one : touched_) {
      clocks_.hear(warp, one.address);
      const auto found = reach == Reach::kDevice ? all_.said_.find(one.address) : all_.said_.end();
      if (found != all_.said_.end()) hear(&warps_[warp].known, found->second);
    }
  }
  void say_at(unsigned warp, Reach reach) {
    for (const Lane& one : touched_) {
      clocks_.say(warp, one.address);
      if (reach == Reach::kDevice && !warps_[warp].fenced.empty()) {
        hear(&all_.said_[one.address], warps_[warp].fenced);
      }
    }
  }

  bool races(uint32_t seen, const Instruction& now) const {
    if (seen == 0) return false;
    const Instruction& before = all_.cells_.instruction(seen);
    if (before.launch != now.launch) {
      return !is_before(all_.cells_.launch(before.launch).work);
    }
    if (before.block == now.block) {
      if (before.warp == now.warp) return false;
      if (before.ordered != Reach::kNone && now.ordered != Reach::kNone) return false;
      return !clocks_.knows(now.warp, before.warp, before.time);
    }
    if (before.ordered == Reach::kDevice && now.ordered == Reach::kDevice) return false;
    const Known& known = warps_[now.warp].known;
    const auto found = known.find(key_of(before.block, before.warp));
    return found == known.end() || found->second < before.time;
  }
  bool load(GlobalCell* cell, const Instruction& now, uint32_t seen, uint64_t at, bool reported) {
    if (!reported && !cell->written_alike && races(cell->written, now)) {
      reported = report(cell->written, now, seen, at);
    }
    // The first one that nothing orders with this one is kept.
    if (cell->first_read == 0 || !races(cell->first_read, now)) {
      cell->first_read = seen;
    } else {
      cell->last_read = seen;
    }
    return reported;
  }
  bool store(GlobalCell* cell, const Instruction& now, uint32_t seen, uint64_t at, bool reported) {
    for (const uint32_t before : {cell->written, cell->first_read, cell->last_read}) {
      if (!reported && races(before, now)) reported = report(before, now, seen, at);
    }
    *cell = {};
    cell->written = seen;
    return reported;
  }
  bool keep(GlobalCell* cell, const Instruction& now, uint32_t seen, bool reported) {
    cell->written_alike = races(cell->written, now);
    if (!cell->written_alike) cell->written = seen;
    return reported;
  }

  std::string does(const char* const* verbs, const Instruction& one) const {
    const WatchedKernel& watched = *all_.cells_.launch(one.launch).watched;
    const std::string& place = watched.lines[watched.line_of[one.operation]].place;
    const AccessKind kind = watched.accesses[one.operation];
    return verbs[static_cast<int>(kind)] + std::string("%") +
           (place.empty() ? "" : " (" + place + ")");
  }
  std::string thread(uint32_t seen, const Instruction& one) const {
    const dim3 block = all_.cells_.launch(one.launch).block;
    return index_text(index_of(32u * one.warp + (seen & 31), block));
  }
  std::string block_text(const Instruction& one) const {
    const dim3 grid = all_.cells_.launch(one.launch).grid;
    return index_text(index_of(one.block, grid));
  }
  // True: it is known.
  bool report(uint32_t seen, const Instruction& now, uint32_t seen_now, uint64_t at) {
    static const char* const kVerbs[] = {"", "loads", "stores", "updates", "loads"};
    static const char* const kPast[] = {"", "loaded", "stored", "updated", "loaded"};
    const Instruction& before = all_.cells_.instruction(seen);
    const LaunchSeen& launch = all_.cells_.launch(now.launch);
    const LaunchSeen& other = all_.cells_.launch(before.launch);
    std::string first = does(kPast, before), second = does(kVerbs, now);
    const bool same = before.launch == now.launch;
    Found& race = all_.races_[{launch.kernel, other.kernel + ": " + first, second}];
    ++race.count;
    if (race.count > 1 && race.block <= number_) return true;
    race.block = number_;
    const Range range = block_.launch.memory.range_of(at);
    second.replace(second.find('%'), 1,
                   " byte " + std::to_string(at - range.begin) + " of " +
                       std::to_string(range.end - range.begin) + " bytes of global memory");
    first.replace(first.find('%'), 1, "");
    const bool same_block = same && before.block == now.block;
    race.sentence = launch.kernel + ": block " + block_text(now) + ", thread " +
                    thread(seen_now, now) + ": " + second + ", which " +
                    (same ? "" : other.kernel + ", ") +
                    (same_block ? "" : "block " + block_text(before) + ", ") + "thread " +
                    thread(seen, before) + " " + first + ", with nothing between that orders them";
    return true;
  }

  GlobalRaces& all_;
  Block& block_;
  const WatchedKernel& watched_;
  Clocks clocks_;
  std::map<uint32_t, Barrier> barriers_;
  OfWarp warps_[kMostWarps];
  std::vector<Lane> touched_;
  std::vector<unsigned char> old_;  // what was where lanes touch
  Range range_;
  uint64_t number_ = 0;  // of the block
};

GlobalRaces::GlobalRaces(std::shared_ptr<const WatchedKernel> watched, std::string kernel,
                         std::vector<RaceLedger*> ledgers, dim3 grid, dim3 block)
    : ledgers_(std::move(ledgers)), cells_(GlobalCells::of_process()) {
  launch_ = cells_.begin({std::move(kernel), std::move(watched), work_now(), grid, block});
}
GlobalRaces::~GlobalRaces() {
  for (const auto& [pair, race] : races_) {
    for (RaceLedger* ledger : ledgers_) ledger->add(pair, race);
  }
}

std::unique_ptr<BlockWatch> GlobalRaces::of(Block& block) {
  return std::make_unique<OfBlock>(*this, block);
}

}  // namespace kernkit::cuda_on_cpu::ptx
