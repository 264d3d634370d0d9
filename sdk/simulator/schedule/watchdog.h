// SPDX-License-Identifier: Apache-2.0
// Watchdog: ends the process if a kernel that its executor cannot stop makes no progress, see
// progress.h.
#pragma once

#include <string>

namespace kernkit::simulator {

/// Watches a kernel during the object's lifetime; one kernel runs at a time in the process. Ends
/// the process some time after `seconds` seconds without progress, so that an executor that can
/// stop the kernel does so first.
class Watchdog {
 public:
  Watchdog(const std::string& kernel, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace kernkit::simulator
