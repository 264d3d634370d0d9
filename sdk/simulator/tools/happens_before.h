// SPDX-License-Identifier: Apache-2.0
// The happens-before order of work of streams and the host, from the order steps of hooks.h. In a
// build with ThreadSanitizer, which receives these steps instead, all work counts as ordered.
#pragma once

#include <cstdint>
#include <map>

namespace kernkit::simulator::ptx {

/// Work of a stream: that of one stream is in order.
struct WorkId {
  const void* stream = nullptr;
  uint64_t number = 0;
};

/// The last work of each stream that happened before something.
using KnownWork = std::map<const void*, uint64_t>;

/// From here on it is kept.
void keep_order();
/// From here on it is not: the runtime pays nothing for it, and what was kept is gone.
void forget_order();
/// What runs now.
WorkId work_now();
/// Whether that work happened before what runs now.
bool is_before(const WorkId& work);
/// The vector clock of this thread for work of streams.
KnownWork known_work();
/// The number of the work before what runs now, in its stream; 0: none.
uint64_t previous_work();
/// What of the stream of what runs now happened before it because of another stream that both
/// wait for: the number of the last such work; 0: none.
uint64_t known_by_other_streams();

}  // namespace kernkit::simulator::ptx
