// SPDX-License-Identifier: Apache-2.0
// Fibers that this OS thread had and may have again.
#pragma once

#include "fiber.h"

namespace kernkit::testing {

/// A fiber to start; `next` is the caller's until it is given back.
Fiber* take_fiber();
void give_back(Fiber* fiber);

}  // namespace kernkit::testing
