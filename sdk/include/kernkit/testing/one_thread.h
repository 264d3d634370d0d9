// SPDX-License-Identifier: Apache-2.0
// Whether a benchmark runs on one thread, as its copies do, or on as many as an op takes by itself.
#pragma once

#include <sched.h>
#include <stdlib.h>
#include <string.h>

namespace kernkit::testing {

/// False when the rows of this process are those of one thread; such a process stays on the
/// processor on which it asked first. True with KERNKIT_BENCH_THREADS=all in the environment.
inline bool all_threads() {
  static const bool all = [] {
    const char* asked = getenv("KERNKIT_BENCH_THREADS");
    if (asked != nullptr && strcmp(asked, "all") == 0) return true;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    return false;
  }();
  return all;
}

}  // namespace kernkit::testing
