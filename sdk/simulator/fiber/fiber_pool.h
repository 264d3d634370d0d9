// SPDX-License-Identifier: Apache-2.0
// Fibers that blocks had and others may have. Grids run one at a time, and in a grid one OS thread.
#pragma once

#include "fiber/fiber.h"

namespace kernkit::simulator {

/// A fiber to start; `next` is the caller's until it is given back.
Fiber* take_fiber();
void give_back(Fiber* fiber);

}  // namespace kernkit::simulator
