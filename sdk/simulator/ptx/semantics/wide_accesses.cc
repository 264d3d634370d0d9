// SPDX-License-Identifier: Apache-2.0
// PTX ISA: ld, st, atom.exch and atom.cas of .b128 that are atomic. The PTX ISA requires no
// atomicity between accesses of different sizes, so one lock for all accesses of 16 bytes is
// enough.
#include "ptx/semantics/wide_accesses.h"

#include <cstring>
#include <mutex>

#include "ptx/machine/access.h"
#include "schedule/progress.h"

namespace kernkit::simulator::ptx {
namespace {

struct Wide {
  uint64_t lower, upper;
  bool operator==(const Wide& other) const { return lower == other.lower && upper == other.upper; }
};

// Calls visit(lane, memory of the lane) for each active lane, while no other thread of the host
// executes a function of this file.
template <class Visit>
void each_whole(Warp& warp, const Operation& operation, Touch touch, const Visit& visit) {
  static std::mutex mutex;
  LanePointers pointers;
  find_pointers(warp, operation, sizeof(Wide), touch, &pointers);
  const std::lock_guard<std::mutex> lock(mutex);
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    visit(lane, pointers.at[lane]);
  }
}

Wide read(Warp& warp, int lane, uint32_t lower, uint32_t upper) {
  return {warp.lanes<uint64_t>(lower)[lane], warp.lanes<uint64_t>(upper)[lane]};
}
void write(Warp& warp, int lane, uint32_t lower, uint32_t upper, const Wide& value) {
  if (lower != kNone) warp.lanes<uint64_t>(lower)[lane] = value.lower;
  if (upper != kNone) warp.lanes<uint64_t>(upper)[lane] = value.upper;
}

// Executes an atomic on the memory of each active lane. next(lane, old) returns the new value of
// the memory.
template <class Next>
void update(Warp& warp, const Operation& operation, const Next& next) {
  bool changed = false;
  each_whole(warp, operation, Touch::kUpdates, [&](int lane, unsigned char* target) {
    Wide old;
    std::memcpy(&old, target, sizeof(Wide));
    const Wide value = next(lane, old);
    changed |= !(value == old);
    std::memcpy(target, &value, sizeof(Wide));
    write(warp, lane, operation.dst, operation.list[kUpperResult], old);
  });
  if (changed) steps_passed.add();
}

}  // namespace

void load_whole(Warp& warp, const Operation& operation) {
  each_whole(warp, operation, Touch::kLoads, [&](int lane, const unsigned char* source) {
    Wide value;
    std::memcpy(&value, source, sizeof(Wide));
    write(warp, lane, operation.list[0], operation.list[1], value);
  });
}

void store_whole(Warp& warp, const Operation& operation) {
  each_whole(warp, operation, Touch::kStores, [&](int lane, unsigned char* target) {
    const Wide value = read(warp, lane, operation.list[0], operation.list[1]);
    std::memcpy(target, &value, sizeof(Wide));
  });
}

void exchange_whole(Warp& warp, const Operation& operation) {
  update(warp, operation, [&](int lane, const Wide&) {
    return read(warp, lane, operation.src1, operation.list[kUpperSource1]);
  });
}

void compare_and_swap_whole(Warp& warp, const Operation& operation) {
  update(warp, operation, [&](int lane, const Wide& old) {
    const Wide expected = read(warp, lane, operation.src1, operation.list[kUpperSource1]);
    return old == expected ? read(warp, lane, operation.src2, operation.list[kUpperSource2]) : old;
  });
}

}  // namespace kernkit::simulator::ptx
