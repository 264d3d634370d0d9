// SPDX-License-Identifier: Apache-2.0
// Watchdog: ends the process when a kernel that asks for nothing does not go on, see progress.h.
#pragma once

#include <string>

namespace kernkit::simulator {

/// While it lives, a kernel of this name runs; one at a time in the process. Who can be asked to
/// stop was told to before, after `seconds` in which the kernel did not go on.
class Watchdog {
 public:
  Watchdog(const std::string& kernel, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace kernkit::simulator
