// SPDX-License-Identifier: Apache-2.0
#include "fiber/fiber_pool.h"

namespace kernkit::simulator {
namespace {

// The list of free fibers. Fibers are never destroyed; each has 64 KiB of address space.
Fiber* first = nullptr;
Fiber* last = nullptr;

// The race detector treats a reused fiber as the same thread. Fresh fibers are therefore preferred
// up to this number; g++'s detector supports 8128 threads.
constexpr int kMostRaceFibers = 6000;
int created = 0;

}  // namespace

Fiber* take_fiber() {
  if (first == nullptr || (kRaceDetector && created < kMostRaceFibers)) {
    ++created;
    return new Fiber;
  }
  Fiber* fiber = first;
  first = fiber->next;
  if (first == nullptr) last = nullptr;
  return fiber;
}

void give_back(Fiber* fiber) {
  fiber->next = nullptr;
  if (!kRaceDetector) fiber->next = first;  // last in, first out, since its memory is cached
  (kRaceDetector && last != nullptr ? last->next : first) = fiber;
  if (fiber->next == nullptr) last = fiber;
}

}  // namespace kernkit::simulator
