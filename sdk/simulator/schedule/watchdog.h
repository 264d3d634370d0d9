// SPDX-License-Identifier: Apache-2.0
// Watchdog: ends the process if a kernel that its executor cannot stop makes no progress, see
// progress.h.
#pragma once

#include <string>

namespace kernkit::simulator {

/// Watches a kernel during its lifetime; one kernel runs at a time in the process. An executor that
/// can stop the kernel does so earlier, after `seconds` without progress.
class Watchdog {
 public:
  Watchdog(const std::string& kernel, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace kernkit::simulator
