// SPDX-License-Identifier: Apache-2.0
// GlobalCells: the accesses to each word of global memory, in the current launch and in earlier
// launches.
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
#include "tools/race_cells.h"

namespace kernkit::simulator::ptx {

/// An execution of an access instruction by a warp.
struct AccessRecord {
  static constexpr uint32_t kPending = UINT32_MAX;  // time of a cp.async copy before its wait

  uint32_t launch, operation;
  uint64_t block;
  uint32_t time;
  uint8_t warp;
  AccessKind kind;                         // kLoad for the source of an asynchronous copy
  ThreadScope scope = ThreadScope::kNone;  // scope of a strong access; kNone if weak
  uint8_t element_bytes = 0;               // size of the scalar data type [bytes]

  bool is_strong() const { return scope != ThreadScope::kNone; }
  /// Returns whether the access is by an asynchronous operation; `time` is then an index into the
  /// completions of LaunchOrder.
  bool is_async() const { return element_bytes >= kAsyncGeneric; }
  /// Returns whether the access is by the async proxy. st.async is asynchronous, but by the generic
  /// proxy.
  bool is_by_async_proxy() const { return element_bytes == kAsync; }
  static constexpr uint8_t kAsync = 255, kAsyncGeneric = 254;
  bool operator==(const AccessRecord& other) const {
    return launch == other.launch && operation == other.operation && block == other.block &&
           time == other.time && warp == other.warp && kind == other.kind;
  }
};

/// A launch, or a call of the runtime. For a call, only `kernel` (the name of the call) and `work`
/// are set.
struct LaunchRecord {
  std::string kernel;
  std::shared_ptr<const InstrumentedKernel> instrumented;
  WorkId work;
  dim3 grid, block;
  int device = 0;
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
  AccessRecord& instruction(uint32_t access_id) { return instructions_[access_id >> 5]; }
  /// Returns whether a record with this access number exists.
  bool has(uint32_t access_id) const { return access_id >> 5 < instructions_.size(); }
  /// Returns the first cell of an access with the alignment *shift (RaceCells::shift_of()), and
  /// stores log2 of the size of the cells in *shift.
  RaceCell* at(uint64_t address, unsigned* shift) {
    if (last_ == nullptr || address / kPage != last_number_) find(address / kPage);
    RaceCell* cell = last_->at(address % kPage, *shift);
    *shift = last_->shift();
    return cell;
  }
  /// Returns whether the cells of an access to `bytes` bytes are adjacent.
  static bool is_in_one_page(uint64_t address, uint64_t bytes) {
    return address / kPage == (address + bytes - 1) / kPage;
  }
  /// Visits the cells from `begin` to `end`, with their addresses. One cell represents a whole page
  /// until a part of the page is accessed.
  template <class Visit>
  void each(uint64_t begin, uint64_t end, const Visit& visit) {
    for (uint64_t next; begin < end; begin = next) {
      next = std::min(end, (begin / kPage + 1) * kPage);
      Page& page = pages_[begin / kPage];
      if (page.cells == nullptr && next - begin == kPage) {
        visit(&page.all, begin);
        continue;
      }
      unsigned shift = std::min(RaceCells::shift_of(begin, 0), RaceCells::shift_of(next, 0));
      RaceCell* cell = at(begin, &shift);
      for (uint64_t address = begin; address < next; address += 1u << shift) {
        visit(cell++, address);
      }
    }
  }
  /// Removes the accesses to the bytes from `begin` to before `end`.
  void forget(uint64_t begin, uint64_t end);
  /// Removes all accesses.
  void forget();

  // Texts for reports of races:
  const char* access_text(const AccessRecord& record) const;  // kind of the access: "Write access"
  std::string line_text(const AccessRecord& record) const;    // source line: " (k.cu:5)"
  /// "block [0, 0, 0], thread [3, 0, 0]"; the access number contains the lane.
  std::string location_text(const AccessRecord& record, uint32_t access_id) const;
  /// Returns the position of an address in the allocation `range`, such as " at byte 0 of 512 bytes
  /// of global memory".
  static std::string bytes_text(uint64_t address, const Range& range);
  /// Returns a report such as "Race reported between Read access at byte 0 of 512 bytes of global
  /// memory (k.cu:9) and <past_text()>".
  std::string race_text(const AccessRecord& before, uint32_t before_id, const AccessRecord& now,
                        const std::string& bytes) const;
  /// Returns the key of the race between the access `now` of `kernel` and the earlier access
  /// `before`.
  FindingLedger::Pair pair_of(const std::string& kernel, const AccessRecord& before,
                              const AccessRecord& now) const;

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr size_t kMostPages = 1 << 20, kMostWithCells = 1 << 14;
  static constexpr size_t kMostInstructions = 1 << 26;
  struct Page {
    std::unique_ptr<RaceCells> cells;  // null while all bytes of the page share the cell `all`
    RaceCell all;
  };
  void find(uint64_t page);
  void forget_accesses();
  /// Describes an earlier access, such as "Write access by writes, block [0, 0, 0], thread [0, 0,
  /// 0] (k.cu:5)". Omits the kernel if `now` belongs to the same launch, and also the block if
  /// `now` belongs to the same block.
  std::string past_text(const AccessRecord& record, uint32_t access_id,
                        const AccessRecord& now) const;
  std::string thread_text(const AccessRecord& record, uint32_t access_id) const;
  std::string block_text(const AccessRecord& record) const;

  std::vector<LaunchRecord> launches_;
  std::vector<AccessRecord> instructions_{1};
  std::unordered_map<uint64_t, Page> pages_;
  std::vector<std::unique_ptr<RaceCells>> spare_;  // cells of removed pages, for reuse
  size_t pages_with_cells_ = 0;
  uint64_t last_number_ = 0;
  RaceCells* last_ = nullptr;
};

}  // namespace kernkit::simulator::ptx
