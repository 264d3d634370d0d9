// SPDX-License-Identifier: Apache-2.0
#include "tools/copy_races.h"

#include <utility>

#include "platform/sanitizers.h"
#include "runtime/state.h"
#include "tools/happens_before.h"
#include "tools/race_verdict.h"
#include "tools/session.h"

namespace kernkit::simulator::ptx {
namespace {

decltype(RuntimeHooks::memory) previous_hook = nullptr;
thread_local const CallOnStream* call_that_runs = nullptr;

AccessKind kind_of(CallAccess access) {
  return access == kCallLoads ? AccessKind::kLoad : AccessKind::kStore;
}

unsigned number_of(cudaStream_t stream) {
  static unsigned long generation = 0;
  static auto& numbers = *new std::map<cudaStream_t, unsigned>;
  if (std::exchange(generation, state().generation) != state().generation) numbers.clear();
  if (is_default_stream(stream)) return 0;
  return numbers.emplace(stream, numbers.size() + 1).first->second;
}

Work named(Work work, cudaStream_t stream) {
  const CallOnStream call{thread_state().function, number_of(stream), captured(stream) != nullptr,
                          thread_state().place};
  return [call, work = std::move(work)] {
    call_that_runs = &call;
    work();
    call_that_runs = nullptr;
  };
}

std::string name_of(const CallOnStream& call) {
  const std::string stream =
      call.stream == 0 ? "the default stream" : "stream " + std::to_string(call.stream);
  const std::string place = *call.place == '\0' ? "" : " (" + std::string(call.place) + ")";
  return std::string(call.function) + "()" + (call.in_graph ? " captured" : "") + " on " + stream +
         place;
}

// Returns the last allocation that begins at or before an address; an empty range if there is none.
Range range_around(uint64_t address) {
  auto next = state().allocations.upper_bound(reinterpret_cast<void*>(address));
  if (next == state().allocations.begin()) return {};
  --next;
  const auto begin = reinterpret_cast<uint64_t>(next->first);
  return {begin, begin + next->second.size};
}

void note_races(MemoryStep step, const void* at, size_t bytes, const void* from) {
  previous_hook(step, at, bytes, from);
  if (step == MemoryStep::kFreed) {
    const auto begin = reinterpret_cast<uint64_t>(at);
    return GlobalCells::of_process().forget(begin, begin + bytes);
  }
  if (call_that_runs == nullptr || bytes == 0) return;
  std::vector<RaceLedger*> ledgers = Session::of_process().race_ledgers();
  if (ledgers.empty()) return;
  CallRaces races(*call_that_runs, std::move(ledgers));
  switch (step) {
    case MemoryStep::kRead: return races.touch(kCallLoads, at, bytes);
    case MemoryStep::kCopied: races.touch(kCallLoads, from, bytes); [[fallthrough]];
    case MemoryStep::kFilled: return races.touch(kCallStores, at, bytes);
    case MemoryStep::kBegins: return races.touch(kCallAllocates, at, bytes);
    case MemoryStep::kEnds: return races.touch(kCallFrees, at, bytes);
    default: return;
  }
}

}  // namespace

void CallRaces::keep() {
  keep_order();
  if (previous_hook != nullptr) return;
  previous_hook = std::exchange(runtime_hooks.memory, note_races);
  runtime_hooks.enqueued = named;
}

void CallRaces::forget() {
  forget_order();  // keeps the hooks: captured work may run after a later keep()
  GlobalCells::of_process().forget();
}

CallRaces::CallRaces(const CallOnStream& call, std::vector<RaceLedger*> ledgers)
    : ledgers_(std::move(ledgers)),
      cells_(GlobalCells::of_process()),
      name_(name_of(call)),
      launch_(cells_.begin({name_, nullptr, work_now(), {}, {}})) {}

CallRaces::~CallRaces() { races_.add_to(ledgers_); }

void CallRaces::touch(CallAccess access, const void* at, size_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(at);
  range_ = range_around(begin);
  const bool is_allocated = begin >= range_.begin && begin < range_.end;
  cudaPointerAttributes attributes{};
  const bool is_of_device = is_variable(at, &attributes) && attributes.type == cudaMemoryTypeDevice;
  if (!is_allocated && !is_of_device) return;
  const uint32_t access_id =
      GlobalCells::with_lane(cells_.add({launch_, access, 0, 0, 0, kind_of(access)}), 0);
  cells_.each(begin, begin + bytes,
              [&](RaceCell* cell, uint64_t address) { touch(cell, access_id, address); });
}

// Compares an access of a call with the earlier accesses of a cell. A copy counts as a store of all
// of its bytes, even of bytes whose value does not change.
void CallRaces::touch(RaceCell* cell, uint32_t access_id, uint64_t address) {
  const bool loads = cells_.instruction(access_id).operation == kCallLoads;
  for (const uint32_t before : {cell->written, cell->also_written}) {
    if (races(before)) report(before, access_id, address);
  }
  if (loads) {
    (cell->first_read == 0 || !races(cell->first_read) ? cell->first_read : cell->last_read) =
        access_id;
    return;
  }
  for (const uint32_t before : {cell->first_read, cell->last_read}) {
    if (races(before)) report(before, access_id, address);
  }
  *cell = {};
  cell->written = access_id;
}

bool CallRaces::races(uint32_t access_id) const {
  if (access_id == 0) return false;
  const uint32_t launch = cells_.instruction(access_id).launch;
  return launch != launch_ && !is_before(cells_.launch(launch).work);
}

void CallRaces::report(uint32_t access_id, uint32_t id_now, uint64_t address) {
  if (!reported_.insert(access_id >> 5).second) return;
  const AccessRecord &before = cells_.instruction(access_id), &now = cells_.instruction(id_now);
  FindingCount& race = races_.at(RaceLevel::kError)[cells_.pair_of(name_, before, now)];
  if (race.count++ != 0) return;
  race.sentence =
      name_ + ": " +
      cells_.race_text(before, access_id, now, GlobalCells::bytes_text(address, range_)) +
      text_of(RaceReason::kLaunches);
}

}  // namespace kernkit::simulator::ptx
