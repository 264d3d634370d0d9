// SPDX-License-Identifier: Apache-2.0
// Watchdog: ends the process if a kernel that calls nothing makes no progress, see progress.h.
#pragma once

#include <string>

namespace kernkit::simulator {

/// Lives while a kernel of this name runs, one at a time in the process. An executor stops a kernel
/// that it can stop after `seconds` without progress, which is earlier.
class Watchdog {
 public:
  Watchdog(const std::string& kernel, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace kernkit::simulator
