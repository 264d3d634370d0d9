// SPDX-License-Identifier: Apache-2.0
// Selection of the part of a warp that runs, and control flow: branches, exits, synchronisation.
#include "ptx/machine/warp.h"

#include <algorithm>
#include <cstdio>

#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "schedule/progress.h"

namespace kernkit::simulator::ptx {
namespace {

// Maximum number of backward branches of a warp before another warp runs: a loop may wait for the
// other warp.
constexpr int kTurn = 1000;

std::string hexadecimal(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", mask);
  return text;
}

// Returns whether a kernel only repeats a wait while the result of the wait is false: "@p bra done;
// bra wait".
bool repeats_wait(const Kernel& kernel, uint32_t wait) {
  constexpr int kMostBranches = 4;
  const uint32_t result = kernel.code[wait].dst_predicate;
  uint32_t pc = wait + 1;
  for (int i = 0; i < kMostBranches; ++i) {
    const Operation& operation = kernel.code[pc];
    const bool is_known = operation.guard == kNone || operation.guard == result;
    if (operation.flow != Flow::kBranch || !is_known) return false;
    const bool branches = operation.guard == kNone || operation.guard_negated;
    pc = branches ? operation.target : pc + 1;
    if (pc == wait) return true;
  }
  return false;
}

}  // namespace

void Warp::start(uint32_t threads) {
  live = active = threads;
  pc = 0;
  next_part = kNone;
  runs_early = false;
  times_out = in_cluster_barrier = 0;
  product_groups = 0;
  parts.clear();
  copies.clear();
  const uint32_t frame = block->launch.kernel.frame;
  if (frame == kNone) return;
  std::memset(registers + frame, 0, 32 * sizeof(uint64_t));
  for (std::vector<Caller>& stack : callers) stack.clear();
}

bool Warp::is_ready() const {
  if (active != 0) return true;
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.state == Part::kReady; });
}

// Activates the lanes of the ready parts with the lowest program counter; returns false if all
// parts wait.
bool Warp::select_next_part() {
  runs_early = false;
  active = 0;
  pc = next_part = kNone;
  for (const Part& part : parts) {
    if (part.state == Part::kReady) pc = std::min(pc, part.pc);
  }
  if (pc == kNone) return false;
  size_t num_parts = 0;
  for (const Part& part : parts) {
    if (part.pc == pc && part.state == Part::kReady) {
      active |= part.mask;
    } else {
      if (part.pc > pc && part.state == Part::kReady) next_part = std::min(next_part, part.pc);
      parts[num_parts++] = part;
    }
  }
  parts.resize(num_parts);
  return true;
}

void Warp::suspend(Part::State state, uint32_t lanes, uint32_t at, uint32_t barrier) {
  if (lanes != 0) parts.push_back({state, at, lanes, barrier});
}

void Warp::go_to(uint32_t target) {
  pc = target;
  if (parts.empty() || runs_early) return;
  suspend(Part::kReady, active, pc);
  select_next_part();
}

void Warp::branch(const Operation& operation, uint32_t taken) {
  const uint32_t not_taken = active & ~taken;
  if (taken == 0) {
    ++pc;
  } else if (not_taken == 0) {
    go_to(operation.target);
  } else if (runs_early) {
    suspend(Part::kReady, taken, operation.target);
    active = not_taken;
    ++pc;
  } else {
    suspend(Part::kReady, taken, operation.target);
    suspend(Part::kReady, not_taken, pc + 1);
    select_next_part();
  }
}

void Warp::branch_by_table(const Operation& operation, uint32_t taken) {
  const std::vector<uint32_t>& table = block->launch.kernel.tables[operation.target];
  const uint32_t* entries = lanes<uint32_t>(operation.src0);
  suspend(Part::kReady, active & ~taken, pc + 1);
  while (taken != 0) {
    const uint32_t entry = entries[__builtin_ctz(taken)];
    uint32_t same = 0;
    for (int l = 0; l < 32; ++l) same |= entries[l] == entry ? kLane[l] : 0;
    if (entry >= table.size()) {
      fault(*this, __builtin_ctz(taken), operation,
            "branches to entry " + std::to_string(entry) + " of a branch table with " +
                std::to_string(table.size()) + " entries");
    }
    suspend(Part::kReady, taken & same, table[entry]);
    taken &= ~same;
  }
  select_next_part();
}

void Warp::exit(uint32_t lanes) {
  live &= ~lanes;
  active &= ~lanes;
  block->end(*this, lanes);
  // Lanes that wait at a kWarpSync operation run the operation again, since they may have waited
  // for the ended lanes.
  for (Part& part : parts) {
    if (part.state == Part::kSynchronises) part.state = Part::kReady;
  }
  if (active != 0 && parts.empty()) {
    ++pc;
    return;
  }
  suspend(Part::kReady, active, pc + 1);
  select_next_part();
}

// Runs the operation for each group of lanes with the same mask when all lanes of the mask have
// arrived or ended.
void Warp::sync_warp(const Operation& operation, uint32_t arrived) {
  suspend(Part::kReady, active & ~arrived, pc + 1);  // lanes with a false guard continue
  size_t num_parts = 0;
  for (const Part& part : parts) {
    if (part.state == Part::kSynchronises && part.pc == pc) {
      arrived |= part.mask;
    } else {
      parts[num_parts++] = part;
    }
  }
  parts.resize(num_parts);
  const uint32_t here = pc;
  uint32_t complete = 0;
  const uint32_t* masks = lanes<uint32_t>(operation.members);
  for (uint32_t remaining = arrived; remaining != 0;) {
    const int first = __builtin_ctz(remaining);
    const uint32_t members = masks[first];
    uint32_t group = 0;
    for (int l = 0; l < 32; ++l) group |= masks[l] == members ? kLane[l] : 0;
    group &= remaining;
    remaining &= ~group;
    if ((group & ~members) != 0) {
      const int lane = __builtin_ctz(group & ~members);
      fault(*this, lane, operation,
            function_text(block->launch.kernel, operation) + ": the mask " + hexadecimal(members) +
                " lacks the calling lane " + std::to_string(lane));
    }
    if ((members & live & ~group) != 0) {
      suspend(Part::kSynchronises, group, here);
      continue;
    }
    if (operation.mode == kWaitsForProducts && !block->has_products(*this, operation)) {
      suspend(Part::kWaitsForWarpgroup, group, here);
      continue;
    }
    mask = group;
    operation.run(*this, operation);
    steps_passed.add();
    if (block->hooks != nullptr && operation.mode == kOnlySynchronises)
      block->hooks->synchronises(*this, group);
    complete |= group;
  }
  if (parts.empty()) {
    active = complete;
    ++pc;
    return;
  }
  suspend(Part::kReady, complete, here + 1);
  select_next_part();
}

void Warp::wait_at_barrier(const Operation& operation, uint32_t arrived) {
  suspend(Part::kReady, active & ~arrived, pc + 1);
  const uint32_t at = pc;
  active = 0;
  while (arrived != 0) {
    const int first = __builtin_ctz(arrived);
    const uint32_t number = lanes<uint32_t>(operation.src0)[first];
    const uint32_t count = operation.src1 != kNone ? lanes<uint32_t>(operation.src1)[first] : 0;
    uint32_t group = 0;
    const auto* numbers = lanes<uint32_t>(operation.src0);
    for (int l = 0; l < 32; ++l) group |= numbers[l] == number ? kLane[l] : 0;
    group &= arrived;
    arrived &= ~group;
    if (number >= Block::kBarriers) {
      fault(*this, first, operation,
            "barrier " + std::to_string(number) + " is out of range; a block has barriers 0 to " +
                std::to_string(Block::kBarriers - 1));
    }
    const bool goes_on = operation.mode == 1;  // bar.arrive does not wait
    suspend(goes_on ? Part::kReady : Part::kWaits, group, goes_on ? at + 1 : at, number);
    block->arrive(*this, operation, group, number, count);
  }
  select_next_part();
}

// PTX ISA, "mbarrier.test_wait, mbarrier.try_wait": a lane waits until the phase completes, or
// until a time limit of the system. The simulator's limit is the moment when no thread can
// continue.
void Warp::try_wait(const Operation& operation, uint32_t arrived) {
  mask = arrived;
  operation.run(*this, operation);
  const uint32_t waiting = arrived & ~predicate(operation.dst_predicate) & ~times_out;
  times_out &= ~arrived;
  if (waiting == 0) {
    ++pc;
    return;
  }
  suspend(Part::kReady, active & ~waiting, pc + 1);
  suspend(Part::kTriesToWait, waiting, pc);
  select_next_part();
}

void Warp::wait_for_cluster(const Operation& operation, uint32_t arrived) {
  uint32_t waiting = 0;
  for (uint32_t remaining = arrived; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    if ((in_cluster_barrier & kLane[lane]) == 0) {
      fault(*this, lane, operation,
            function_text(block->launch.kernel, operation) +
                ": the thread has not arrived; expected barrier.cluster.arrive before this wait");
    }
    if (cluster_phase[lane] == block->cluster->phase()) waiting |= kLane[lane];
  }
  in_cluster_barrier &= ~arrived | waiting;
  if (waiting != arrived && block->hooks != nullptr) block->hooks->leaves_cluster_barrier(*this);
  if (waiting == 0) {
    ++pc;
    return;
  }
  suspend(Part::kReady, active & ~waiting, pc + 1);
  suspend(Part::kWaitsForCluster, waiting, pc);
  select_next_part();
}

void Warp::retry_waits() {
  for (Part& part : parts) {
    if (part.state == Part::kTriesToWait) part.state = Part::kReady;
  }
}

void Warp::retry_products() {
  for (Part& part : parts) {
    if (part.state == Part::kWaitsForWarpgroup) part.state = Part::kReady;
  }
}

bool Warp::time_out_waits() {
  bool any = false;
  for (Part& part : parts) {
    if (part.state != Part::kTriesToWait || repeats_wait(block->launch.kernel, part.pc)) continue;
    part.state = Part::kReady;
    times_out |= part.mask;
    any = true;
  }
  return any;
}

void Warp::turn_of_another() {
  suspend(Part::kReady, active, pc);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].state != Part::kReady) continue;
    const Part part = parts[i];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    pc = part.pc;
    active = part.mask;
    next_part = kNone;
    runs_early = !parts.empty();
    return;
  }
}

// Lets lanes continue that wait in calls of __syncwarp() at different operations, if all lanes of
// their mask wait or have ended. Called when no part can continue. Returns whether lanes continue.
bool Warp::sync_call_sites() {
  const Operation* code = block->launch.kernel.code.data();
  const auto only_synchronises = [&](const Part& part) {
    return part.state == Part::kSynchronises && code[part.pc].mode == kOnlySynchronises;
  };
  const auto members_of = [&](const Part& part) {
    return lanes<uint32_t>(code[part.pc].members)[__builtin_ctz(part.mask)];
  };
  for (const Part& first : parts) {
    if (!only_synchronises(first)) continue;
    const uint32_t members = members_of(first);
    uint32_t arrived = 0;
    for (const Part& part : parts) {
      if (only_synchronises(part) && members_of(part) == members) arrived |= part.mask;
    }
    if ((members & live & ~arrived) != 0) continue;
    if (block->hooks != nullptr) block->hooks->synchronises(*this, arrived);
    for (Part& part : parts) {
      if (!only_synchronises(part) || members_of(part) != members) continue;
      part.state = Part::kReady;
      ++part.pc;
    }
    return true;
  }
  return false;
}

// Returns the active lanes whose guard is true.
uint32_t Warp::lanes_of(const Operation& operation) const {
  if (operation.guard == kNone) return active;
  const uint32_t guard = predicate(operation.guard);
  return active & (operation.guard_negated ? ~guard : guard);
}

// Executes operations up to the next control-flow operation, or up to the pc of the next part.
void Warp::run_straight(const Operation* code) {
  const Operation* operation = code + pc;
  const Operation* const end = next_part != kNone && !runs_early ? code + next_part : nullptr;
  for (; operation->flow == Flow::kNext && operation != end; ++operation) {
    mask = lanes_of(*operation);
    if (mask != 0) operation->run(*this, *operation);
  }
  pc = static_cast<uint32_t>(operation - code);
}

Warp::Stop Warp::run() {
  const Operation* code = block->launch.kernel.code.data();
  BlockHooks* const hooks = block->hooks.get();
  if (active == 0) select_next_part();
  int turn = kTurn;
  while (active != 0) {
    run_straight(code);
    const Operation& operation = code[pc];
    const uint32_t here = lanes_of(operation);
    const uint32_t before = pc;
    if (hooks != nullptr && operation.flow != Flow::kNext) hooks->decides(*this, operation, here);
    switch (operation.flow) {
      case Flow::kNext: break;  // the part reached the pc of another part
      case Flow::kBranch: branch(operation, here); break;
      case Flow::kTable: branch_by_table(operation, here); break;
      case Flow::kCall: call(operation, here); break;
      case Flow::kReturn: leave_function(here); break;
      case Flow::kExit: exit(here); break;
      case Flow::kWarpSync: here != 0 ? sync_warp(operation, here) : void(++pc); break;
      case Flow::kBarrier: here != 0 ? wait_at_barrier(operation, here) : void(++pc); break;
      case Flow::kTryWait: here != 0 ? try_wait(operation, here) : void(++pc); break;
      case Flow::kClusterWait: here != 0 ? wait_for_cluster(operation, here) : void(++pc); break;
      case Flow::kYield:
        ++pc;
        turn_of_another();
        return Stop::kYields;
    }
    if (pc >= next_part && active != 0 && !runs_early) {
      suspend(Part::kReady, active, pc);
      select_next_part();
    }
    if (pc <= before && --turn <= 0 && active != 0) {
      turn_of_another();
      return Stop::kYields;
    }
    if (active == 0 && live != 0 && sync_call_sites()) select_next_part();
  }
  return live == 0 ? Stop::kEnded : Stop::kWaits;
}

}  // namespace kernkit::simulator::ptx
