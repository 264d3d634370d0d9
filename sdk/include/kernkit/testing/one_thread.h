// SPDX-License-Identifier: Apache-2.0
// Whether a benchmark runs on one thread, or on as many threads as an op uses by default.
#pragma once

#include <sched.h>
#include <stdlib.h>
#include <string.h>

namespace kernkit::testing {

/// Returns true with KERNKIT_BENCH_THREADS=all in the environment, read in the first call.
/// Otherwise returns false, for rows on one thread: the first call then keeps its thread, and
/// threads that this thread creates later, on its processor, if the system permits this. Throws
/// nothing.
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
