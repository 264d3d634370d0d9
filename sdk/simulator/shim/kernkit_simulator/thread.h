// SPDX-License-Identifier: Apache-2.0
// Functions of a running kernel that the keywords and builtins of CUDA C++ call.
#pragma once

#include <stdint.h>

namespace kernkit::simulator {

enum class Barrier { kPlain, kCount, kAnd, kOr };
/// Waits until every thread of the block is here. Returns how many predicates were not zero
/// (kCount), or whether all (kAnd) or any (kOr) were.
int meet_block(Barrier kind, int predicate);

/// The values of the lanes at a warp synchronisation; `lanes`: the lanes that take part.
struct WarpValues {
  uint64_t values[32];
  unsigned lanes;
};
/// Waits until every lane of `mask` that has not ended is at this function, and exchanges values.
/// `orders` says whether what each wrote before is seen by all behind it.
void meet_warp(const char* function, unsigned mask, uint64_t value, bool orders, WarpValues* out);

/// This thread's number in its warp; 0 outside a kernel.
unsigned lane_id();
/// Waits until no other lane comes to where this is called, by the same calls; returns the lanes of
/// this warp that have come. Those of earlier lines of the code go on first, for they may come
/// here. Two calls in the code must not become one, nor one two.
#if defined(__clang__) && __has_attribute(nomerge)
__attribute__((nomerge, convergent))
#endif
unsigned
lanes_here(const char* function, int line);
/// Called by what waits for other threads does over and over: lets them go on.
void spin();
/// Called by what changed memory in a way that may let other threads go on.
void step();
/// A fence: orders this thread's accesses among those of all threads that call it.
void fence();
/// Ends the kernel with an error that names it, its block and its thread.
[[noreturn]] void trap(const char* sentence);

/// The block's dynamic shared memory, and its size in bytes.
void* dynamic_shared_memory();
unsigned dynamic_shared_size();

}  // namespace kernkit::simulator
