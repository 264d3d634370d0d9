// SPDX-License-Identifier: Apache-2.0
#include "fiber/fiber_pool.h"

namespace kernkit::simulator {
namespace {

// The list of free fibers. Fibers are never destroyed.
Fiber* first = nullptr;
Fiber* last = nullptr;

// Number of fibers below which, under the race detector, fibers are created rather than reused,
// because the race detector treats all users of a fiber as one thread. The race detector of g++
// supports 8128 threads.
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
  // Last in, first out: the stack of the last used fiber is likely still in the processor's cache.
  if (!kRaceDetector) fiber->next = first;
  (kRaceDetector && last != nullptr ? last->next : first) = fiber;
  if (fiber->next == nullptr) last = fiber;
}

}  // namespace kernkit::simulator
