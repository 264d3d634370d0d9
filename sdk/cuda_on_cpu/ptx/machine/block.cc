// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/block.h"

#include <algorithm>
#include <utility>

#include "execution/progress.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/specials.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

constexpr size_t kLine = 64;  // bytes

uint32_t lanes_of(unsigned threads, unsigned warp) {
  const unsigned left = threads - warp * 32;
  return left >= 32 ? Warp::kAll : (1u << left) - 1;
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

}  // namespace

Block::Block(const Launch& its_launch)
    : launch(its_launch),
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
    warp.shared = {shared.data(), shared.size(), 0};
    // Which nobody writes to.
    warp.parameters = {const_cast<unsigned char*>(launch.parameters), kernel.parameter_bytes, 0};
    if (kernel.local_bytes != 0) {
      local_.emplace_back(size_t{32} * kernel.local_bytes, launch.poison);
      warp.local = {local_.back().data(), kernel.local_bytes, kernel.local_bytes};
    }
    for (const Constant& constant : kernel.constants) set_constant(warp, constant);
    for (const SpecialRegister& special : kernel.specials) set_special(warp, special);
    order_.push_back(i);
  }
  if (launch.watch != nullptr) watch = launch.watch->of(*this);
}

void Block::start(uint3 its_index, uint64_t random) {
  index = its_index;
  if (watch != nullptr) watch->starts();
  // Another byte than global memory has.
  std::fill(shared.begin(), shared.end(), static_cast<unsigned char>(launch.poison ^ 0x5a));
  for (Barrier& barrier : barriers_) barrier = {};
  for (Warp& warp : warps) {
    for (const SpecialRegister& special : launch.kernel.specials) {
      if (is_of_block(special)) set_special(warp, special);
    }
    warp.start(lanes_of(threads, warp.number));
  }
  if (random == 0) return;
  for (size_t i = order_.size(); i > 1; --i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::swap(order_[i - 1], order_[(random >> 33) % i]);
  }
}

Block::Stop Block::run() {
  for (;;) {
    bool any_runs = false, yields = false, all_ended = true;
    for (const unsigned i : order_) {
      Warp& warp = warps[i];
      if (warp.live == 0) continue;
      if (warp.is_ready()) {
        any_runs = true;
        const Warp::Stop stop = warp.run();
        yields |= stop == Warp::Stop::kYields;
        if (stop == Warp::Stop::kEnded) threads_passed.add();
      }
      all_ended &= warp.live == 0;
    }
    if (all_ended) return Stop::kEnded;
    if (!any_runs) say_deadlock();
    if (yields) return Stop::kYields;
  }
}

Running Block::running() const {
  Running waits{threads, 0};
  for (const Warp& warp : warps) {
    const auto thread_of = [&](uint32_t mask) {
      return warp.number * 32 + static_cast<unsigned>(__builtin_ctz(mask));
    };
    if (warp.active != 0) return {thread_of(warp.active), warp.pc};
    for (const Part& part : warp.parts) {
      const Running one{thread_of(part.mask), part.pc};
      if (part.state == Part::kReady) return one;
      if (waits.thread == threads) waits = one;
    }
  }
  return waits;
}

bool Block::arrive(Warp& warp, const Operation& operation, uint32_t lanes, uint32_t number,
                   uint32_t count) {
  Barrier& barrier = barriers_[number];
  const unsigned expected = count != 0 ? count : threads;
  const int lane = __builtin_ctz(lanes);
  if (barrier.arrived == 0) {
    barrier.first = &operation;
    barrier.expected = expected;
    barrier.true_predicates = 0;
  }
  if (watch != nullptr) watch->arrives(warp, number, operation.mode == 1);
  const Kernel& kernel = launch.kernel;
  const bool arrives = operation.mode == 1 || barrier.first->mode == 1;
  if (barrier.first->mode != operation.mode && !arrives) {
    fault(warp, lane, operation,
          function_text(kernel, operation) + " meets threads of the block at " +
              function_text(kernel, *barrier.first));
  }
  if (barrier.expected != expected) {
    fault(warp, lane, operation,
          function_text(kernel, operation) + " is for " + std::to_string(expected) +
              " threads, and others wait at it for " + std::to_string(barrier.expected));
  }
  if (operation.c != kNone) {
    const uint32_t bits = warp.predicate(operation.c);
    const uint32_t true_ones = (operation.negated ? ~bits : bits) & lanes;
    barrier.true_predicates += static_cast<unsigned>(__builtin_popcount(true_ones));
  }
  barrier.arrived += static_cast<unsigned>(__builtin_popcount(lanes));
  if (barrier.arrived > expected) {
    fault(warp, lane, operation,
          function_text(kernel, operation) + " has " + std::to_string(barrier.arrived) +
              " threads, and is for " + std::to_string(expected));
  }
  if (barrier.arrived < expected) return false;
  leave_barrier(number);
  return true;
}

// Mode of a barrier: 0 plain, 1 arrives only, 2 popc, 3 and, 4 or.
void Block::leave_barrier(uint32_t number) {
  Barrier& barrier = barriers_[number];
  if (watch != nullptr) watch->opens(number);
  for (Warp& warp : warps) {
    for (Part& part : warp.parts) {
      if (part.state != Part::kWaits || part.barrier != number) continue;
      const Operation& operation = launch.kernel.code[part.pc];
      warp.mask = part.mask;
      const bool all = barrier.true_predicates == barrier.expected;
      const bool result = operation.mode == 3 ? all : barrier.true_predicates != 0;
      if (operation.mode == 2) {
        auto* counts = warp.results<uint32_t>(operation.to);
        for (int l = 0; l < 32; ++l) counts[l] = barrier.true_predicates;
        warp.keep<uint32_t>(operation.to);
      } else if (operation.to_predicate != kNone) {
        warp.set_predicate(operation.to_predicate, result ? Warp::kAll : 0);
      }
      part.state = Part::kReady;
      ++part.pc;
    }
  }
  barrier = {};
  steps_passed.add();
}

// In the words that kernels have which were compiled for the CPU.
void Block::say_deadlock() const {
  const auto place_of = [&](unsigned thread) -> const Operation* {
    for (const Part& part : warps[thread / 32].parts) {
      if ((part.mask >> thread % 32 & 1) != 0) return &launch.kernel.code[part.pc];
    }
    return nullptr;  // it has ended
  };
  const auto words = [&](const Operation* at) { return function_text(launch.kernel, *at); };
  unsigned first = threads, other = threads, waiting = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    const Operation* at = place_of(thread);
    if (at != nullptr && first == threads) first = thread;
    const bool same = at != nullptr && words(at) == words(place_of(first));
    waiting += same ? 1 : 0;
    if (!same && other == threads) other = thread;
  }
  const Operation* at = place_of(first);
  const Operation* elsewhere = other < threads ? place_of(other) : nullptr;
  throw Fault{
      place_text(*this, first) + std::to_string(waiting) + " of the block's " +
          std::to_string(threads) + " threads wait at " + words(at) +
          (other == threads ? std::string(", which is for more of them")
                            : " and thread " + thread_text(*this, other) +
                                  (elsewhere == nullptr ? std::string(" has ended")
                                                        : " waits at " + words(elsewhere))) +
          line_text(*this, *at),
      cudaErrorLaunchFailure};
}

}  // namespace kernkit::cuda_on_cpu::ptx
