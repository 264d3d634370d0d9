// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/block.h"

#include <algorithm>
#include <utility>

#include "ptx/machine/access.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/special_registers.h"
#include "ptx/machine/window.h"
#include "schedule/progress.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr size_t kLine = 64;  // alignment of a warp's registers [bytes]
// Maximum number of consecutive rounds before another block runs. In a round, every warp runs until
// the warp waits. The limit is needed for loops with a barrier in each iteration: the threads make
// progress, but the loop may wait for a store of another block.
constexpr unsigned kRoundsInARow = 1024;

uint32_t lanes_of(unsigned threads, unsigned warp) {
  const unsigned remaining = threads - warp * 32;
  return remaining >= 32 ? Warp::kAll : (1u << remaining) - 1;
}

template <class T>
void fill_lanes(unsigned char* to, uint64_t bits) {
  for (int l = 0; l < 32; ++l) reinterpret_cast<T*>(to)[l] = static_cast<T>(bits);
}

void set_constant(Warp& warp, const Constant& constant) {
  unsigned char* to = warp.registers + constant.at;
  switch (constant.size) {
    case 0: warp.predicate(constant.at) = constant.bits != 0 ? Warp::kAll : 0; return;
    case 2: return fill_lanes<uint16_t>(to, constant.bits);
    case 4: return fill_lanes<uint32_t>(to, constant.bits);
    default: return fill_lanes<uint64_t>(to, constant.bits);
  }
}

// Returns whether a constant is the address of a variable in shared memory.
bool is_in_shared_memory(const Kernel& kernel, const Constant& constant) {
  return constant.variable != kNone &&
         kernel.variables[constant.variable].kind != KernelVariable::kGlobal;
}

uint64_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

}  // namespace

Block::Block(const Launch& its_launch, Cluster* its_cluster, uint32_t its_rank)
    : launch(its_launch),
      cluster(its_cluster),
      rank(its_rank),
      threads(launch.block.x * launch.block.y * launch.block.z),
      shared(launch.kernel.shared_bytes + launch.dynamic_shared),
      warps((threads + 31) / 32),
      ranges_(launch.kernel.code.size()) {
  const Kernel& kernel = launch.kernel;
  const size_t bytes = (kernel.register_bytes + kLine - 1) / kLine * kLine;
  memory_ = std::make_unique<unsigned char[]>(bytes * warps.size() + kLine);
  void* first = memory_.get();
  size_t space = bytes * warps.size() + kLine;
  std::align(kLine, bytes * warps.size(), first, space);
  for (unsigned i = 0; i < warps.size(); ++i) {
    Warp& warp = warps[i];
    warp.number = i;
    warp.block = this;
    warp.registers = static_cast<unsigned char*>(first) + bytes * i;
    warp.ranges = ranges_.data();
    // Shared addresses contain a rank in blocks other than the first of a cluster. In these blocks,
    // warp.shared is empty, so that Access handles every access to shared memory and removes the
    // rank.
    warp.shared = {shared.data(), rank == 0 ? shared.size() : 0, 0};
    // The parameters are never written: Access rejects stores to them.
    warp.parameters = {const_cast<unsigned char*>(launch.parameters), kernel.parameter_bytes, 0};
    if (kernel.local_bytes != 0) {
      local_.emplace_back(size_t{32} * kernel.local_bytes, launch.poison);
      warp.local = {local_.back().data(), kernel.local_bytes, kernel.local_bytes};
    }
    for (Constant constant : kernel.constants) {
      if (is_in_shared_memory(kernel, constant)) constant.bits += shared_base(rank);
      set_constant(warp, constant);
    }
    for (const SpecialRegister& special : kernel.specials) set_special(warp, special);
    order_.push_back(i);
  }
  if (launch.hooks != nullptr) hooks = launch.hooks->block_hooks(*this);
}

Block::~Block() = default;

void Block::start(uint3 its_index, uint64_t random) {
  index = its_index;
  if (hooks != nullptr) hooks->starts();
  // Fills shared memory with a byte that differs from the poison of global memory.
  std::fill(shared.begin(), shared.end(), static_cast<unsigned char>(launch.poison ^ 0x5a));
  std::fill_n(shared.data() + launch.kernel.reserved_begin, launch.kernel.reserved_bytes,
              static_cast<unsigned char>(0));
  for (uint32_t remaining = in_use_; remaining != 0; remaining &= remaining - 1)
    barriers_[__builtin_ctz(remaining)] = {};
  in_use_ = 0;
  mbarriers.clear();
  asynchronous.clear();
  live_ = threads;
  num_left_out = 0;
  for (Warp& warp : warps) {
    for (const SpecialRegister& special : launch.kernel.specials) {
      if (is_of_block(special)) set_special(warp, special);
    }
    warp.start(lanes_of(threads, warp.number));
  }
  random_ = random;
  completion_ = Completion::kLate;
  if (random == 0) return;
  for (size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[next_random(&random_) % i]);
  }
  constexpr Completion kCompletions[] = {Completion::kLate, Completion::kEarly, Completion::kMixed};
  completion_ = kCompletions[next_random(&random_) % 3];
}

Block::Stop Block::run() {
  for (unsigned rounds = 1;; ++rounds) {
    bool any_runs = false, yields = rounds == kRoundsInARow, all_ended = true;
    retry_waits();  // other blocks may have completed a phase of this block's mbarriers
    for (const unsigned i : order_) {
      Warp& warp = warps[i];
      if (warp.live == 0) continue;
      if (warp.is_ready()) {
        any_runs = true;
        const Warp::Stop stop = warp.run();
        complete_at_random();
        retry_waits();
        yields |= stop == Warp::Stop::kYields;
        if (stop == Warp::Stop::kEnded) threads_passed.add();
      }
      all_ended &= warp.live == 0;
    }
    if (all_ended) {
      if (hooks != nullptr) hooks->ends();
      complete_asynchronous();
      return Stop::kEnded;
    }
    if (!any_runs && !continue_after_stall()) return Stop::kWaits;
    if (!any_runs || yields) {
      complete_asynchronous();
      return Stop::kYields;
    }
  }
}

bool Block::is_ready() {
  retry_waits();
  return std::any_of(warps.begin(), warps.end(),
                     [](const Warp& warp) { return warp.live != 0 && warp.is_ready(); });
}

void Block::retry_waits() {
  if (seen_phases_ == mbarriers.completed_phases()) return;
  seen_phases_ = mbarriers.completed_phases();
  for (Warp& warp : warps) warp.retry_waits();
}

void Block::complete_asynchronous() {
  while (!asynchronous.empty()) asynchronous.complete_first();
  retry_waits();
}

// Called after each turn of a warp. With kEarly, completes all asynchronous work; with kMixed, the
// oldest asynchronous work in a random quarter of the calls.
void Block::complete_at_random() {
  if (asynchronous.empty()) return;
  switch (completion_) {
    case Completion::kLate: return;
    case Completion::kEarly: return complete_asynchronous();
    case Completion::kMixed:
      if (next_random(&random_) % 4 == 0) asynchronous.complete_first();
      return;
  }
}

// Called when every thread waits. Returns whether a thread may continue: asynchronous work remains,
// which the caller then completes, or a wait for an mbarrier reached its time limit before the
// phase completed.
bool Block::continue_after_stall() {
  if (!asynchronous.empty()) return true;
  bool any = false;
  for (Warp& warp : warps) any |= warp.time_out_waits();
  return any;
}

Running Block::running() const {
  Running waits{threads, 0};
  for (const Warp& warp : warps) {
    const auto thread_of = [&](uint32_t mask) {
      return warp.number * 32 + static_cast<unsigned>(__builtin_ctz(mask));
    };
    if (warp.active != 0) return {thread_of(warp.active), warp.pc};
    for (const Part& part : warp.parts) {
      const Running running{thread_of(part.mask), part.pc};
      if (part.state == Part::kReady) return running;
      if (waits.thread == threads) waits = running;
    }
  }
  return waits;
}

// Returns the number of threads that a barrier expects if no thread has ended. `count` is
// Barrier::count.
unsigned Block::expected(unsigned count) const { return count != 0 ? count : threads; }

bool Block::arrive(Warp& warp, const Operation& operation, uint32_t lanes, uint32_t number,
                   uint32_t count) {
  Barrier& barrier = barriers_[number];
  const int lane = __builtin_ctz(lanes);
  if (barrier.first == nullptr) {
    barrier.first = &operation;
    barrier.count = count;
    in_use_ |= kLane[number];
  }
  if (hooks != nullptr) hooks->arrives(warp, number, operation.mode == 1);
  const Kernel& kernel = launch.kernel;
  const bool arrives = operation.mode == 1 || barrier.first->mode == 1;
  if (barrier.first->mode != operation.mode && !arrives) {
    fault(warp, lane, operation,
          function_text(kernel, operation) +
              " was called while other threads of the block wait at " +
              function_text(kernel, *barrier.first));
  }
  const auto warps_of = [](unsigned all) { return (all + 31) / 32; };
  if (warps_of(expected(barrier.count)) != warps_of(expected(count))) {
    fault(warp, lane, operation,
          function_text(kernel, operation) + " is for " + std::to_string(expected(count)) +
              " threads, and waiting threads expect " + std::to_string(expected(barrier.count)));
  }
  if (count % 32 != 0) {
    fault(warp, lane, operation,
          function_text(kernel, operation) + " is for " + std::to_string(count) +
              " threads; expected a multiple of 32");
  }
  barrier.count = std::max(barrier.count, count);
  if (operation.src2 != kNone) {
    const uint32_t bits = warp.predicate(operation.src2);
    const uint32_t true_ones = (operation.negated ? ~bits : bits) & lanes;
    barrier.true_predicates += static_cast<unsigned>(__builtin_popcount(true_ones));
  }
  barrier.arrived += static_cast<unsigned>(__builtin_popcount(lanes));
  barrier.lanes[warp.number] |= lanes;
  count_warp(&barrier, warp);
  return open_if_complete(number);
}

void Block::count_warp(Barrier* barrier, const Warp& warp) const {
  uint32_t& lanes = barrier->lanes[warp.number];
  if (lanes == 0 || (warp.live & ~lanes) != 0) return;
  lanes = 0;
  barrier->of_warps += 32;
}

bool Block::open_if_complete(uint32_t number) {
  const Barrier& barrier = barriers_[number];
  const bool is_complete =
      barrier.count != 0 ? barrier.of_warps >= barrier.count : barrier.arrived == live_;
  if (is_complete) leave_barrier(number);
  return is_complete;
}

void Block::open_cluster_barrier() {
  if (hooks != nullptr) hooks->opens(kClusterBarrier);
  for (Warp& warp : warps) {
    for (Part& part : warp.parts) {
      if (part.state == Part::kWaitsForCluster) part.state = Part::kReady;
    }
  }
}

bool Block::has_products(const Warp& warp, const Operation& wait) const {
  const auto pending = static_cast<uint64_t>(wait.offset);
  const unsigned first = warp.number / kWarpsOfGroup * kWarpsOfGroup;
  for (unsigned i = first; i < first + kWarpsOfGroup && i < warps.size(); ++i) {
    if (warps[i].live != 0 && warps[i].product_groups + pending < warp.product_groups) return false;
  }
  return true;
}

void Block::commit_products(Warp& warp) {
  ++warp.product_groups;
  retry_products(warp);
}

void Block::retry_products(const Warp& warp) {
  const unsigned first = warp.number / kWarpsOfGroup * kWarpsOfGroup;
  for (unsigned i = first; i < first + kWarpsOfGroup && i < warps.size(); ++i) {
    warps[i].retry_products();
  }
}

void Block::end(Warp& warp, uint32_t lanes) {
  if (warp.product_groups != 0) retry_products(warp);
  cluster->end(static_cast<unsigned>(__builtin_popcount(lanes)));
  live_ -= static_cast<unsigned>(__builtin_popcount(lanes));
  for (uint32_t remaining = in_use_; remaining != 0; remaining &= remaining - 1) {
    const auto number = static_cast<uint32_t>(__builtin_ctz(remaining));
    count_warp(&barriers_[number], warp);
    open_if_complete(number);
  }
}

// Lets the threads that wait at a barrier continue. Operation::mode of a barrier: 0 is bar.sync, 1
// bar.arrive, 2 bar.red.popc, 3 bar.red.and, 4 bar.red.or.
void Block::leave_barrier(uint32_t number) {
  Barrier& barrier = barriers_[number];
  if (hooks != nullptr) hooks->opens(number);
  for (Warp& warp : warps) {
    for (Part& part : warp.parts) {
      if (part.state != Part::kWaits || part.barrier != number) continue;
      const Operation& operation = launch.kernel.code[part.pc];
      warp.mask = part.mask;
      const bool all = barrier.true_predicates == barrier.arrived;
      const bool result = operation.mode == 3 ? all : barrier.true_predicates != 0;
      if (operation.mode == 2) {
        auto* counts = warp.results<uint32_t>(operation.dst);
        for (int l = 0; l < 32; ++l) counts[l] = barrier.true_predicates;
        warp.keep<uint32_t>(operation.dst);
      } else if (operation.dst_predicate != kNone) {
        warp.set_predicate(operation.dst_predicate, result ? Warp::kAll : 0);
      }
      part.state = Part::kReady;
      ++part.pc;
    }
  }
  barrier = {};
  in_use_ &= ~kLane[number];
  steps_passed.add();
}

// Describes the phase for which a lane waits: " for phase 0 of the mbarrier at byte 8 of shared
// memory (1 of 2 arrivals missing)".
std::string Block::mbarrier_text(const Warp& warp, int lane, const Operation& operation) const {
  alignas(64) uint64_t addresses[32];
  read_addresses(warp, operation, addresses);
  const auto at = static_cast<uint32_t>(addresses[lane] & kInBlock);
  MbarrierState state;
  const std::string why = mbarriers.read(at, &state);
  return " for phase " + std::to_string(mbarriers.phase_of(at)) + " of the mbarrier at byte " +
         std::to_string(at) + " of shared memory (" +
         (why.empty() ? Mbarriers::missing_text(state) : why) +
         mbarriers.lapped_text(at, warp.number) + ")";
}

// Formats the text like the deadlock report of the fiber executor, see Block::deadlock() in
// fiber/block_faults.cc.
std::string Block::waits_text(unsigned* first_thread) const {
  struct WaitingThread {
    const Operation* at = nullptr;  // where the thread waits; null if the thread has ended
    std::string text;
    bool waits_for_phase = false;  // whether the thread waits for a phase of an mbarrier
  };
  const auto location_of = [&](unsigned thread) -> WaitingThread {
    const Warp& warp = warps[thread / 32];
    for (const Part& part : warp.parts) {
      if ((part.mask >> thread % 32 & 1) == 0) continue;
      const Operation* at = &launch.kernel.code[part.pc];
      std::string text = function_text(launch.kernel, *at);
      if (part.state == Part::kWaits && part.barrier != 0)
        text += " of barrier " + std::to_string(part.barrier);
      const bool waits_for_phase = part.state == Part::kTriesToWait;
      if (waits_for_phase) text += mbarrier_text(warp, static_cast<int>(thread % 32), *at);
      return {at, text, waits_for_phase};
    }
    return {};
  };
  unsigned first = threads, elsewhere_thread = threads, ended = threads, waiting = 0;
  WaitingThread of_first;
  for (unsigned thread = 0; thread < threads; ++thread) {
    const WaitingThread site = location_of(thread);
    if (site.at != nullptr && first == threads) {
      first = thread;
      of_first = site;
    }
    const bool same = site.at != nullptr && site.text == of_first.text;
    waiting += same ? 1 : 0;
    unsigned& another = site.at == nullptr ? ended : elsewhere_thread;
    if (!same && another == threads) another = thread;
  }
  if (elsewhere_thread == threads) elsewhere_thread = ended;
  const WaitingThread elsewhere =
      elsewhere_thread < threads ? location_of(elsewhere_thread) : WaitingThread{};
  *first_thread = first;
  std::string text = std::to_string(waiting) + " of the block's " + std::to_string(threads) +
                     " threads wait at " + of_first.text;
  const std::string line = line_text(*this, *of_first.at);
  if (elsewhere_thread == threads) {
    return text + (of_first.waits_for_phase ? "" : ", which expects more threads") + line;
  }
  const std::string another = " and thread " + thread_text(*this, elsewhere_thread);
  if (elsewhere.at == nullptr) return text + another + " has ended" + line;
  const std::string other_line = line_text(*this, *elsewhere.at);
  if (other_line != line) text += line;
  return text + another + " waits at " + elsewhere.text + other_line;
}

}  // namespace kernkit::simulator::ptx
