// SPDX-License-Identifier: Apache-2.0
// The pool of fibers, which blocks reuse. The pool needs no lock: one grid runs at a time, on one
// OS thread at a time.
#pragma once

#include "fiber/fiber.h"

namespace kernkit::simulator {

/// Returns a fiber that the caller may start. The caller may use the fiber's `next` until
/// give_back().
Fiber* take_fiber();
void give_back(Fiber* fiber);

}  // namespace kernkit::simulator
