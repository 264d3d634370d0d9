// SPDX-License-Identifier: Apache-2.0
// Whether a benchmark runs on one thread, or on as many threads as an op uses by default.
#pragma once

#include <sched.h>
#include <stdlib.h>
#include <string.h>

namespace kernkit::testing {

/// Returns whether the environment has KERNKIT_BENCH_THREADS=all; the first call reads the
/// environment, and later calls return the same value. If the value is false, the first call also
/// restricts its thread, and threads that this thread creates later, to the processor on which it
/// runs (sched_setaffinity(2)), and ignores an error. Safe from any thread. Throws nothing.
inline bool all_threads() {
  static const bool all = [] {
    const char* threads = getenv("KERNKIT_BENCH_THREADS");
    if (threads != nullptr && strcmp(threads, "all") == 0) return true;
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &processors);
    (void)sched_setaffinity(0, sizeof(processors), &processors);
    return false;
  }();
  return all;
}

}  // namespace kernkit::testing
