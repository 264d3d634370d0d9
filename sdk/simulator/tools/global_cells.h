// SPDX-License-Identifier: Apache-2.0
// GlobalCells: the last accesses to each byte of global memory, in this launch and earlier ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "ptx/machine/range.h"
#include "tools/findings.h"
#include "tools/happens_before.h"

namespace kernkit::simulator::ptx {

/// A vector clock of warps of other blocks: the time by block and warp, see key_of().
using RemoteClock = std::map<uint64_t, uint32_t>;
inline uint64_t key_of(uint64_t block, unsigned warp) { return block << 5 | warp; }
inline void join(RemoteClock* to, const RemoteClock& from) {
  for (const auto& [key, time] : from) (*to)[key] = std::max((*to)[key], time);
}

/// An access instruction that a warp ran.
struct AccessRecord {
  uint32_t launch, operation;
  uint64_t block;
  uint32_t time;
  uint8_t warp;
  ThreadScope ordered;
};

/// A launch, or a call of the runtime; a call has only `kernel` (its name) and `work`.
struct LaunchRecord {
  std::string kernel;
  std::shared_ptr<const InstrumentedKernel> instrumented;
  WorkId work;
  dim3 grid, block;
  // Numbers of work in the launch's stream: the previous work, and the last work that had ended
  // when the launch began. A programmatic dependent launch begins while work after `ended` may
  // still run.
  uint64_t previous = 0, ended = UINT64_MAX;
  // Whether each block of the launch waits for earlier work before later work may begin.
  bool waits_first = true;

  bool may_run_with(const WorkId& other) const {
    return other.stream == work.stream && other.number > ended && other.number < work.number;
  }
};

/// An access to memory by a call of the runtime; stored in AccessRecord::operation.
enum CallAccess : uint32_t { kCallLoads, kCallStores, kCallFrees, kCallAllocates };

/// The accesses to one byte. A number identifies an instruction and a lane; 0 means no access.
struct GlobalCell {
  uint32_t written = 0, first_read = 0, last_read = 0;
  bool same_value_written = false;  // whether unordered threads stored the byte's old value
};

class GlobalCells {
 public:
  static GlobalCells& of_process();

  uint32_t begin(LaunchRecord launch);
  const LaunchRecord& launch(uint32_t number) const { return launches_[number]; }
  /// Records that a block of the launch let later work begin before it waited for earlier work.
  void triggers_first(uint32_t launch) { launches_[launch].waits_first = false; }
  /// Returns the number of the last work in a stream that certainly had ended when a programmatic
  /// dependent launch began. `previous` is the number of the work before that launch.
  uint64_t ended_before(const WorkId& work, uint64_t previous) const;
  uint32_t add(const AccessRecord& instruction);
  static uint32_t with_lane(uint32_t instruction, int lane) {
    return instruction << 5 | static_cast<uint32_t>(lane);
  }
  const AccessRecord& instruction(uint32_t access_id) const {
    return instructions_[access_id >> 5];
  }
  GlobalCell& at(uint64_t address) {
    if (last_ == nullptr || address / kPage != last_number_) find(address / kPage);
    return last_[address % kPage];
  }
  /// Visits the cells from `begin` to `end`. A whole page has one cell until a part of the page is
  /// accessed.
  template <class Visit>
  void each(uint64_t begin, uint64_t end, const Visit& visit) {
    for (uint64_t next; begin < end; begin = next) {
      next = std::min(end, (begin / kPage + 1) * kPage);
      Page& page = pages_[begin / kPage];
      if (page.cells == nullptr && next - begin == kPage) {
        visit(&page.all, begin);
        continue;
      }
      for (uint64_t address = begin; address < next; ++address) visit(&at(address), address);
    }
  }
  /// Removes the accesses to these bytes.
  void forget(uint64_t begin, uint64_t end);
  /// Removes all accesses.
  void forget();

  // Texts for reports of races:
  const char* access_text(const AccessRecord& record) const;  // kind of the access: "Write access"
  std::string line_text(const AccessRecord& record) const;    // source line: " (k.cu:5)"
  std::string location_text(uint32_t access_id) const;        // "block [0, 0, 0], thread [3, 0, 0]"
  /// "Race reported between Read access at byte 0 of 512 bytes of global memory (k.cu:9) and
  /// <past_text()>", for an access at `address`, in an allocation of `range`.
  std::string race_text(uint32_t access_id, const AccessRecord& now, uint64_t address,
                        const Range& range) const;
  /// The key of the race between an access of `kernel` and an earlier access.
  FindingLedger::Pair pair_of(const std::string& kernel, const AccessRecord& before,
                              const AccessRecord& now) const;

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr size_t kMostPages = 1 << 20, kMostWithCells = 1 << 14;
  static constexpr size_t kMostInstructions = 1 << 26;
  struct Page {
    std::unique_ptr<GlobalCell[]> cells;  // null while all bytes of the page share the cell `all`
    GlobalCell all;
  };
  void find(uint64_t page);
  void forget_accesses();
  /// "Write access by writes, block [0, 0, 0], thread [0, 0, 0] (k.cu:5)"; kernel and block are
  /// named where they differ from the kernel and block of `now`.
  std::string past_text(uint32_t access_id, const AccessRecord& now) const;
  std::string thread_text(uint32_t access_id) const;
  std::string block_text(const AccessRecord& record) const;

  std::vector<LaunchRecord> launches_;
  std::vector<AccessRecord> instructions_{1};
  std::unordered_map<uint64_t, Page> pages_;
  std::vector<std::unique_ptr<GlobalCell[]>> spare_;  // cells of removed pages, for reuse
  size_t pages_with_cells_ = 0;
  uint64_t last_number_ = 0;
  GlobalCell* last_ = nullptr;
};

}  // namespace kernkit::simulator::ptx
