// SPDX-License-Identifier: Apache-2.0
#include "tools/global_cells.h"

#include <utility>

#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

GlobalCells& GlobalCells::of_process() {
  static auto& all = *new GlobalCells;
  return all;
}

// Adds a launch and returns its number. First drops all records if the host has waited for all
// earlier work, or if the records take too much memory.
uint32_t GlobalCells::begin(LaunchRecord launch) {
  // It does not suffice that earlier work happened before this launch: the earlier work may be
  // unordered with later work of another stream.
  const bool all_before =
      std::all_of(launches_.begin(), launches_.end(), [&](const LaunchRecord& record) {
        return host_waited_for(record.work) && !launch.may_run_with(record.work);
      });
  if (all_before || pages_.size() > kMostPages || pages_with_cells_ > kMostWithCells ||
      instructions_.size() > kMostInstructions / 2) {
    launches_.clear();
    forget_accesses();
  }
  launches_.push_back(std::move(launch));
  return static_cast<uint32_t>(launches_.size() - 1);
}

uint64_t GlobalCells::ended_before(const WorkId& work, uint64_t previous) const {
  const auto is_previous = [&](const LaunchRecord& record) {
    return record.work.stream == work.stream && record.work.number == previous &&
           record.instrumented != nullptr;
  };
  const auto kernel = std::find_if(launches_.begin(), launches_.end(), is_previous);
  // The previous work is a copy or an event, which has ended.
  if (kernel == launches_.end()) return previous;
  return kernel->waits_first ? kernel->previous : kernel->ended;
}

void GlobalCells::forget() {
  launches_.clear();
  forget_accesses();
  spare_.clear();
}

void GlobalCells::forget_accesses() {
  instructions_.resize(1);
  for (auto& [number, page] : pages_) {
    if (page.cells != nullptr) spare_.push_back(std::move(page.cells));
  }
  pages_.clear();
  pages_with_cells_ = 0;
  last_ = nullptr;
}

uint32_t GlobalCells::add(const AccessRecord& instruction) {
  if (instructions_.size() == kMostInstructions) forget_accesses();  // of the current launch too
  instructions_.push_back(instruction);
  return static_cast<uint32_t>(instructions_.size() - 1);
}

void GlobalCells::find(uint64_t page) {
  Page& page_cells = pages_[page];
  if (page_cells.cells == nullptr) {
    if (spare_.empty()) spare_.push_back(std::make_unique<RaceCells>());
    page_cells.cells = std::move(spare_.back());
    spare_.pop_back();
    page_cells.cells->reset(kPage);
    if (page_cells.all.written != 0 || page_cells.all.first_read != 0) {
      page_cells.cells->fill(page_cells.all);
    }
    ++pages_with_cells_;
  }
  last_number_ = page;
  last_ = page_cells.cells.get();
}

void GlobalCells::forget(uint64_t begin, uint64_t end) {
  if (pages_.empty()) return;
  for (uint64_t next; begin < end; begin = next) {
    next = std::min(end, (begin / kPage + 1) * kPage);
    if (pages_.count(begin / kPage) == 0) continue;
    each(begin, next, [](RaceCell* cell, uint64_t) { *cell = {}; });
  }
}

const char* GlobalCells::access_text(const AccessRecord& record) const {
  // Indexed by CallAccess.
  static const char* const kOfCalls[] = {"Read access", "Write access", "Deallocation",
                                         "Allocation"};
  const InstrumentedKernel* instrumented = launch(record.launch).instrumented.get();
  if (instrumented == nullptr) return kOfCalls[record.operation];
  if (record.is_async()) {
    return record.kind == AccessKind::kLoad    ? "Async read access"
           : record.kind == AccessKind::kStore ? "Async write access"
                                               : "Async reduction";
  }
  return ptx::access_text(record.kind);
}
std::string GlobalCells::line_text(const AccessRecord& record) const {
  const InstrumentedKernel* instrumented = launch(record.launch).instrumented.get();
  return instrumented == nullptr ? "" : instrumented->line_text(record.operation);
}
std::string GlobalCells::thread_text(const AccessRecord& record, uint32_t access_id) const {
  return "thread " +
         index_text(index_of(32u * record.warp + (access_id & 31), launch(record.launch).block));
}
std::string GlobalCells::block_text(const AccessRecord& record) const {
  return "block " + index_text(index_of(record.block, launch(record.launch).grid)) + ", ";
}
std::string GlobalCells::location_text(const AccessRecord& record, uint32_t access_id) const {
  return block_text(record) + thread_text(record, access_id);
}
std::string GlobalCells::past_text(const AccessRecord& record, uint32_t access_id,
                                   const AccessRecord& now) const {
  const LaunchRecord& launch_before = launch(record.launch);
  const std::string access = access_text(record) + std::string(" by ");
  if (launch_before.instrumented == nullptr) return access + launch_before.kernel;
  const bool same = record.launch == now.launch;
  return access + (same ? "" : launch_before.kernel + ", ") +
         (same && record.block == now.block ? "" : block_text(record)) +
         thread_text(record, access_id) + line_text(record);
}

std::string GlobalCells::bytes_text(uint64_t address, const Range& range) {
  if (address < range.begin || address >= range.end) return " to global memory";
  return " at byte " + std::to_string(address - range.begin) + " of " +
         std::to_string(range.end - range.begin) + " bytes of global memory";
}
std::string GlobalCells::race_text(const AccessRecord& before, uint32_t before_id,
                                   const AccessRecord& now, const std::string& bytes) const {
  return ptx::race_text(access_text(now), bytes, line_text(now), past_text(before, before_id, now));
}

FindingLedger::Pair GlobalCells::pair_of(const std::string& kernel, const AccessRecord& before,
                                         const AccessRecord& now) const {
  return {kernel, launch(before.launch).kernel + ": " + access_text(before) + line_text(before),
          access_text(now) + line_text(now)};
}

}  // namespace kernkit::simulator::ptx
