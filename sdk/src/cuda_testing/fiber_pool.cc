// SPDX-License-Identifier: Apache-2.0
#include "fiber_pool.h"

namespace kernkit::testing {
namespace {

struct FiberPool {
  Fiber* first = nullptr;
  ~FiberPool() {
    while (first != nullptr) {
      Fiber* fiber = first;
      first = fiber->next;
      delete fiber;
    }
  }
};
thread_local FiberPool pool;

}  // namespace

Fiber* take_fiber() {
  if (pool.first == nullptr) return new Fiber;
  Fiber* fiber = pool.first;
  pool.first = fiber->next;
  return fiber;
}

void give_back(Fiber* fiber) {
  fiber->next = pool.first;
  pool.first = fiber;
}

}  // namespace kernkit::testing
