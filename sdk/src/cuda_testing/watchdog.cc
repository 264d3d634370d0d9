// SPDX-License-Identifier: Apache-2.0
#include "watchdog.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace kernkit::testing {
namespace {

std::atomic<int64_t> deadline{0};  // of the steady clock, in milliseconds; 0: no kernel runs
char running[256];

int64_t milliseconds() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
}

void watch() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int64_t end = deadline;
    if (end == 0 || milliseconds() < end) continue;
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
  deadline = milliseconds() + static_cast<int64_t>(seconds * 1500) + 500;
}
Watchdog::~Watchdog() { deadline = 0; }

}  // namespace kernkit::testing
