// SPDX-License-Identifier: Apache-2.0
#include "fiber/fiber_pool.h"

namespace kernkit::simulator {
namespace {

// Never destroyed: 64 KiB of address space each.
Fiber* first = nullptr;
Fiber* last = nullptr;

// To the race detector who uses a fiber again is the thread that used it before: one that nobody
// used is better, as long as there can be more. g++'s detector takes 8128 threads.
constexpr int kMostRaceFibers = 6000;
int made = 0;

}  // namespace

Fiber* take_fiber() {
  if (first == nullptr || (kRaceDetector && made < kMostRaceFibers)) {
    ++made;
    return new Fiber;
  }
  Fiber* fiber = first;
  first = fiber->next;
  if (first == nullptr) last = nullptr;
  return fiber;
}

void give_back(Fiber* fiber) {
  fiber->next = nullptr;
  if (!kRaceDetector) fiber->next = first;  // the one whose memory is in the cache
  (kRaceDetector && last != nullptr ? last->next : first) = fiber;
  if (fiber->next == nullptr) last = fiber;
}

}  // namespace kernkit::simulator
