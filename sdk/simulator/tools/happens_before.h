// SPDX-License-Identifier: Apache-2.0
// The happens-before order of work of streams and the host, from the order steps of hooks.h. In a
// build with ThreadSanitizer, which receives these steps instead, all work counts as ordered.
#pragma once

#include <cstdint>
#include <map>

namespace kernkit::simulator::ptx {

/// Identifies work of a stream. In a stream, work with a lower number precedes work with a higher
/// number.
struct WorkId {
  const void* stream = nullptr;
  uint64_t number = 0;
};

/// A vector clock: the number of the last work of each stream that happened before a point.
using WorkClock = std::map<const void*, uint64_t>;

/// Records the order from now on.
void keep_order();
/// Stops recording, to save time, and removes the recorded order.
void forget_order();
/// Returns the work that runs now in this thread.
WorkId work_now();
/// Returns whether `work` happened before the work that runs now.
bool is_before(const WorkId& work);
/// Returns whether the host has waited for work, which then happens before all later work.
bool host_waited_for(const WorkId& work);
/// Returns the vector clock of the current point of this thread.
WorkClock work_clock();
/// Returns the number of the previous work in the stream of the work that runs now; 0 if there was
/// none.
uint64_t previous_work();
/// Returns the number of the last work in the current stream that is ordered before the current
/// work through another stream: the other stream waited for the returned work, and the current work
/// waits for the other stream. Returns 0 if there is no such work.
uint64_t acquired_by_other_streams();

}  // namespace kernkit::simulator::ptx
