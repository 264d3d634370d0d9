// SPDX-License-Identifier: Apache-2.0
// The functions that keywords and builtins of CUDA C++ call in a running kernel.
#pragma once

#include <stdint.h>

namespace kernkit::simulator {

enum class Barrier { kPlain, kCount, kAnd, kOr };
/// Waits until every thread of the block has arrived. Returns the number of nonzero predicates
/// (kCount), or whether all (kAnd) or any (kOr) predicates are nonzero.
int sync_block(Barrier kind, int predicate);

/// The values of the lanes at a warp synchronisation; `lanes` is the mask of participating lanes.
struct WarpValues {
  uint64_t values[32];
  unsigned lanes;
};
/// Waits until every lane of `mask` that has not ended has arrived at this function, and exchanges
/// values. With `orders`, writes before the function are visible to all lanes after it.
void sync_warp(const char* function, unsigned mask, uint64_t value, bool orders, WarpValues* out);

/// Returns the number of this thread in its warp; 0 outside a kernel.
unsigned lane_id();
/// Waits until no other lane of the warp can arrive at the same call site, with the same active
/// calls; returns the lanes that have arrived. Lanes at earlier lines continue first, since they
/// may arrive. The compiler must neither merge nor duplicate calls.
#if defined(__clang__) && __has_attribute(nomerge)
__attribute__((nomerge, convergent))
#endif
unsigned
lanes_here(const char* function, int line);
/// Called in operations of loops that may wait: lets other threads run.
void spin();
/// Called after a change of memory for which other threads may wait.
void step();
/// A memory fence among all threads that call it.
void fence();
/// Ends the kernel with an error that includes the kernel, the block and the thread.
[[noreturn]] void trap(const char* sentence);

/// The block's dynamic shared memory, and its size [bytes].
void* dynamic_shared_memory();
unsigned dynamic_shared_size();

}  // namespace kernkit::simulator
