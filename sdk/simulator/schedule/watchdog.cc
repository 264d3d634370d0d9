// SPDX-License-Identifier: Apache-2.0
#include "schedule/watchdog.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "schedule/progress.h"

namespace kernkit::simulator {
namespace {

std::atomic<uint64_t> kernels{0};  // number of kernels that have begun
std::atomic<double> patience{0};   // time limit of the running kernel [s]; 0 if no kernel runs
char running[256];

void watch() {
  StallTimer all(0.2), threads(0.2);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double most = patience;
    // The counters only grow, so a sum of counters changes if any counter changes.
    const uint64_t passed = kernels + threads_passed.count();
    const double without_progress = all.stalled_for(passed + steps_passed.count());
    const double without_end = threads.stalled_for(passed);
    if (most == 0 || (without_progress < most && without_end < kCircles * most)) continue;
    std::fprintf(stderr,
                 "kernkit: kernel %s does not end; a loop that waits for another thread needs an "
                 "atomic, a fence or __nanosleep() in it\n",
                 running);
    std::abort();
  }
}

}  // namespace

Watchdog::Watchdog(const std::string& kernel, double seconds) {
  static const bool started = [] {
    std::thread(watch).detach();
    return true;
  }();
  (void)started;
  std::strncpy(running, kernel.c_str(), sizeof(running) - 1);
  ++kernels;
  patience = seconds * 1.5 + 0.5;
}
Watchdog::~Watchdog() { patience = 0; }

}  // namespace kernkit::simulator
