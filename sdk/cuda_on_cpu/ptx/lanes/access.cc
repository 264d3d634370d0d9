// SPDX-License-Identifier: Apache-2.0
#include "ptx/lanes/access.h"

#include <algorithm>

#include "ptx/lanes/lanes.h"
#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

struct Access {
  Warp& warp;
  const Operation& operation;
  uint32_t size;
  Touch touch;

  [[noreturn]] void refuse(int lane, const std::string& what, cudaError_t error) const {
    static const char* const kVerbs[] = {"loads ", "stores ", "updates "};
    fault(warp, lane, operation,
          kVerbs[static_cast<int>(touch)] + std::to_string(size) + " bytes " + what, error);
  }
  void check_alignment(int lane, uint64_t address) const {
    if ((address & (size - 1)) == 0) return;
    refuse(lane, "at a misaligned address", cudaErrorMisalignedAddress);
  }
  unsigned char* in(const char* what, unsigned char* begin, uint64_t bytes, int lane,
                    uint64_t at) const {
    if (at > bytes || bytes - at < size) {
      refuse(lane,
             "at byte " + std::to_string(static_cast<int64_t>(at)) + " of " +
                 std::to_string(bytes) + " bytes of " + what,
             cudaErrorIllegalAddress);
    }
    check_alignment(lane, at);
    return begin + at;
  }
  unsigned char* in_global(int lane, uint64_t address) const {
    Range& range = warp.ranges[operation.number];
    if (address < range.begin || address + size > range.end) {
      const DeviceMemory& memory = warp.block->launch.memory;
      range = memory.range_of(address);
      if (address < range.begin || address + size > range.end || address + size < address) {
        const uint64_t first = address < range.begin || address >= range.end ? address : range.end;
        range = {};
        refuse(lane, memory.place_of(first), cudaErrorIllegalAddress);
      }
    }
    check_alignment(lane, address);
    return reinterpret_cast<unsigned char*>(address);
  }
  unsigned char* in_shared(int lane, uint64_t at) const {
    auto& shared = warp.block->shared;
    return in("shared memory", shared.data(), shared.size(), lane, at);
  }
  unsigned char* in_local(int lane, uint64_t at) const {
    const uint32_t bytes = warp.block->launch.kernel.local_bytes;
    return in("local memory", warp.local + size_t{bytes} * static_cast<size_t>(lane), bytes, lane,
              at);
  }
  unsigned char* in_parameters(int lane, uint64_t at) const {
    auto* parameters = const_cast<unsigned char*>(warp.block->launch.parameters);
    if (touch != Touch::kLoads) refuse(lane, "of the parameters", cudaErrorIllegalAddress);
    return in("parameters", parameters, warp.block->launch.kernel.parameter_bytes, lane, at);
  }
  unsigned char* place(int lane, uint64_t address) const {
    switch (operation.space) {
      case Space::kGlobal: return in_global(lane, address);
      case Space::kShared: return in_shared(lane, address);
      case Space::kLocal: return in_local(lane, address);
      case Space::kParam: return in_parameters(lane, address);
      case Space::kGeneric: break;
    }
    switch (address >> kWindowShift) {
      case kSharedWindow >> kWindowShift: return in_shared(lane, address & kInWindow);
      case kLocalWindow >> kWindowShift: return in_local(lane, address & kInWindow);
      case kParamWindow >> kWindowShift: return in_parameters(lane, address & kInWindow);
      default: return in_global(lane, address);
    }
  }
};

void read_addresses(Warp& warp, const Operation& operation, uint64_t* to) {
  const auto offset = static_cast<uint64_t>(operation.offset);
  if (operation.address_size == 8) {
    const auto* base = warp.lanes<uint64_t>(operation.address);
    each_lane([&](int l) { to[l] = base[l] + offset; });
  } else if (operation.address_size == 4) {
    const auto* base = warp.lanes<uint32_t>(operation.address);
    const auto small = static_cast<uint32_t>(offset);
    each_lane([&](int l) { to[l] = base[l] + small; });
  } else {
    each_lane([&](int l) { to[l] = offset; });
  }
}

// Of a full warp whose accesses lie in the memory of the last one: no lane needs a look of its own.
bool is_in_last_range(const Warp& warp, const Operation& operation, const uint64_t* addresses,
                      uint32_t size) {
  uint64_t least = UINT64_MAX, most = 0, bits = 0;
  for (int l = 0; l < 32; ++l) {
    least = std::min(least, addresses[l]);
    most = std::max(most, addresses[l]);
    bits |= addresses[l];
  }
  const Range& range = warp.ranges[operation.number];
  return least >= range.begin && most < range.end && range.end - most >= size &&
         (bits & (size - 1)) == 0;
}

}  // namespace

void find_places(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                 Places* places) {
  alignas(64) uint64_t addresses[32];
  read_addresses(warp, operation, addresses);
  const bool global = operation.space == Space::kGlobal || operation.space == Space::kGeneric;
  if (warp.mask == Warp::kAll && global && is_in_last_range(warp, operation, addresses, size)) {
    each_lane([&](int l) { places->at[l] = reinterpret_cast<unsigned char*>(addresses[l]); });
  } else {
    const Access access{warp, operation, size, touch};
    for (uint32_t left = warp.mask; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      places->at[lane] = access.place(lane, addresses[lane]);
    }
  }
  if (warp.mask != Warp::kAll) return;
  uint64_t strides = 0, differences = 0;
  const auto first = reinterpret_cast<uintptr_t>(places->at[0]);
  for (unsigned l = 0; l < 32; ++l) {
    const uint64_t distance = reinterpret_cast<uintptr_t>(places->at[l]) - first;
    differences |= distance;
    strides |= distance ^ (uint64_t{l} * size);
  }
  places->same = differences == 0;
  places->contiguous = strides == 0;
}

}  // namespace kernkit::cuda_on_cpu::ptx
