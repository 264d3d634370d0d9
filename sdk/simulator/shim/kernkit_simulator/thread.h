// SPDX-License-Identifier: Apache-2.0
// The functions that keywords and builtins of CUDA C++ call in a running kernel.
#pragma once

#include <stdint.h>

namespace kernkit::simulator {

enum class Barrier { kPlain, kCount, kAnd, kOr };
/// Waits until all threads of the block, except threads that have ended, have called the function.
/// Returns the number of nonzero predicates (kCount), or whether all (kAnd) or any (kOr) predicates
/// are nonzero.
int sync_block(Barrier kind, int predicate);

/// The values that the lanes of a warp exchange; `lanes` is the mask of participating lanes.
struct WarpValues {
  uint64_t values[32];
  unsigned lanes;
};
/// Waits until every lane of `mask` that has not ended has called `function` with the same mask,
/// and exchanges values. If `orders` is true, writes of the lanes before the call are visible to
/// all lanes after the call.
void sync_warp(const char* function, unsigned mask, uint64_t value, bool orders, WarpValues* out);

/// Returns the lane of this thread in its warp; 0 outside a kernel.
unsigned lane_id();
/// Waits until no further lane of the warp can arrive at this call site (the same line and the same
/// active calls), and returns the mask of the lanes that have arrived. Lanes that wait at earlier
/// lines continue first, since they may still arrive. The compiler must neither merge nor duplicate
/// calls.
#if defined(__clang__) && __has_attribute(nomerge)
__attribute__((nomerge, convergent))
#endif
unsigned
lanes_here(const char* function, int line);
/// Called by operations that a waiting loop may contain: lets other threads run.
void spin();
/// Called after a change of memory that may end the wait of other threads.
void step();
/// A memory fence: orders the memory accesses of all threads that call the function.
void fence();
/// Ends the kernel with a fault. The report names the kernel, the block and the thread, followed by
/// `sentence`.
[[noreturn]] void trap(const char* sentence);

/// Returns the block's dynamic shared memory. dynamic_shared_size() returns its size [bytes].
void* dynamic_shared_memory();
unsigned dynamic_shared_size();

}  // namespace kernkit::simulator
