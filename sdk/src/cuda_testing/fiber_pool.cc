// SPDX-License-Identifier: Apache-2.0
#include "fiber_pool.h"

namespace kernkit::testing {
namespace {

Fiber* pool = nullptr;  // never destroyed: 64 KiB of address space each

}  // namespace

Fiber* take_fiber() {
  if (pool == nullptr) return new Fiber;
  Fiber* fiber = pool;
  pool = fiber->next;
  return fiber;
}

void give_back(Fiber* fiber) {
  fiber->next = pool;
  pool = fiber;
}

}  // namespace kernkit::testing
