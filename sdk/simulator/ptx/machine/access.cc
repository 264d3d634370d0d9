// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/access.h"

#include <algorithm>

#include "platform/demangle.h"
#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "ptx/machine/fault.h"
#include "ptx/machine/window.h"

namespace kernkit::simulator::ptx {
namespace {

struct Access {
  static constexpr const char* kGlobal = "__global__";
  static constexpr const char* kShared = "__shared__";
  static constexpr const char* kParameter = "parameter";

  Warp& warp;
  const Operation& operation;
  uint32_t size;
  Touch touch;
  uint32_t alignment = size;  // a power of two [bytes]

  /// Throws the fault of an invalid access, with the wording of compute-sanitizer. `space` is a
  /// name such as "__shared__".
  [[noreturn]] void fail(int lane, const char* space, const std::string& location,
                         cudaError_t error = cudaErrorIllegalAddress) const {
    static const char* const kAccesses[] = {" read", " write", " atomic"};
    fault(warp, lane, operation,
          std::string("Invalid ") + space + kAccesses[static_cast<int>(touch)] + " of size " +
              std::to_string(size) + " bytes, " + location,
          error);
  }
  void check_alignment(int lane, const char* space, uint64_t address) const {
    if ((address & (alignment - 1)) == 0) return;
    fail(lane, space, "at a misaligned address", cudaErrorMisalignedAddress);
  }
  unsigned char* in(const char* space, const char* memory, const Window& window, int lane,
                    uint64_t at) const {
    if (at > window.bytes || window.bytes - at < size) {
      fail(lane, space,
           "at byte " + std::to_string(static_cast<int64_t>(at)) + " of " +
               std::to_string(window.bytes) + " bytes of " + memory);
    }
    check_alignment(lane, space, at);
    return window.at_lane(lane) + at;
  }
  // Finds an address in the heap of malloc(). Does not cache the range, since the kernel may free
  // the memory.
  unsigned char* in_heap(int lane, uint64_t address) const {
    const Launch& launch = warp.block->launch;
    const Range range = launch.heap.range_of(address);
    if (address < range.begin || address + size > range.end) {
      const uint64_t first = range.begin > range.end ? address : range.end;
      const std::string text = launch.heap.location_of(first);
      fail(lane, kGlobal, text.empty() ? launch.memory.location_of(first) : text);
    }
    check_alignment(lane, kGlobal, address);
    return reinterpret_cast<unsigned char*>(address);
  }
  // Throws the fault of an access that is out of bounds of the variable from which its address is
  // derived.
  [[noreturn]] void fail_at_variable(int lane, uint64_t address) const {
    const Block& block = *warp.block;
    const KernelVariable& variable = block.launch.kernel.variables[operation.variable];
    auto index = static_cast<int64_t>(address - variable.begin);
    uint64_t bytes = variable.bytes;
    std::string name = "variable " + name_of_variable(variable.name);
    if (variable.kind == KernelVariable::kShared) name = "shared " + name;
    if (variable.kind == KernelVariable::kDynamic) {
      name = "dynamic shared memory";
      bytes = block.launch.dynamic_shared;
    }
    const bool is_global = variable.kind == KernelVariable::kGlobal;
    if (!is_global) index = static_cast<int32_t>(index);
    fail(lane, is_global ? kGlobal : kShared,
         "at byte " + std::to_string(index) + " of " + name + " (" + std::to_string(bytes) +
             (bytes == 1 ? " byte)" : " bytes)"));
  }
  unsigned char* in_global(int lane, uint64_t address) const {
    Range& range = warp.ranges[operation.number];
    if (address < range.begin || address + size > range.end) {
      const Launch& launch = warp.block->launch;
      renew_range(warp, operation, address);
      if (range.begin > range.end) return in_heap(lane, address);
      if (address < range.begin || address + size > range.end || address + size < address) {
        const uint64_t first = address < range.begin || address >= range.end ? address : range.end;
        range = {};
        if (operation.variable != kNone) fail_at_variable(lane, address);
        fail(lane, kGlobal, launch.memory.location_of(first));
      }
    }
    check_alignment(lane, kGlobal, address);
    return reinterpret_cast<unsigned char*>(address);
  }
  unsigned char* in_shared(int lane, uint64_t at) const {
    Block& own = *warp.block;
    // Shared addresses contain the rank of the block, except constant addresses in the shared
    // space.
    const bool has_rank = own.cluster->size() > 1 &&
                          (operation.address_size != 0 || operation.space == Space::kGeneric);
    if (has_rank && at >> kRankShift != own.rank) return in_other_block(lane, at);
    if (has_rank) at &= kInBlock;
    const Window window{own.shared.data(), own.shared.size(), 0};
    const uint64_t end = std::min<uint64_t>(operation.shared_end, window.bytes);
    const bool is_inside = at >= operation.shared_begin && at < end && end - at >= size;
    if (operation.variable != kNone && !is_inside) fail_at_variable(lane, at);
    return in(kShared, "shared memory", window, lane, at);
  }
  unsigned char* in_other_block(int lane, uint64_t at) const {
    const uint64_t rank = at >> kRankShift;
    const Cluster& cluster = *warp.block->cluster;
    if (rank >= cluster.size()) {
      fail(lane, kShared, "of block " + std::to_string(rank) + " of " + cluster.text());
    }
    Block& other = cluster.block(static_cast<uint32_t>(rank));
    if (other.has_ended()) {
      fail(lane, kShared, "of block " + std::to_string(rank) + " of the cluster, which has ended");
    }
    const Window window{other.shared.data(), other.shared.size(), 0};
    at &= kInBlock;
    unsigned char* const memory = in(kShared, "shared memory of another block", window, lane, at);
    if (touch != Touch::kLoads && other.hooks != nullptr)
      other.hooks->copied_into_shared(static_cast<uint32_t>(at), size, 0);
    return memory;
  }
  unsigned char* in_local(int lane, uint64_t at) const {
    return in("__local__", "local memory", warp.local, lane, at);
  }
  unsigned char* in_parameters(int lane, uint64_t at) const {
    if (touch != Touch::kLoads) fail(lane, kParameter, "parameters are constant");
    return in(kParameter, "parameters", warp.parameters, lane, at);
  }
  unsigned char* pointer(int lane, uint64_t address) const {
    const bool is_generic = operation.space == Space::kGeneric;
    const Located target = is_generic ? located(address) : Located{operation.space, address};
    switch (target.space) {
      case Space::kShared: return in_shared(lane, target.at);
      case Space::kLocal: return in_local(lane, target.at);
      case Space::kParam: return in_parameters(lane, target.at);
      default: return in_global(lane, target.at);
    }
  }
};

}  // namespace

void read_addresses(const Warp& warp, const Operation& operation, uint64_t* to) {
  const auto offset = static_cast<uint64_t>(operation.offset);
  if (operation.address_size == 8) {
    const auto* base = warp.lanes<uint64_t>(operation.address);
    for (int l = 0; l < 32; ++l) to[l] = base[l] + offset;
  } else if (operation.address_size == 4) {
    const auto* base = warp.lanes<uint32_t>(operation.address);
    const auto small = static_cast<uint32_t>(offset);
    for (int l = 0; l < 32; ++l) to[l] = base[l] + small;
  } else {
    for (int l = 0; l < 32; ++l) to[l] = offset;
  }
}

void renew_range(Warp& warp, const Operation& operation, uint64_t address) {
  const Launch& launch = warp.block->launch;
  Range range;
  if (operation.variable == kNone) {
    range = launch.memory.range_of(address);
  } else {
    const KernelVariable& variable = launch.kernel.variables[operation.variable];
    if (variable.kind == KernelVariable::kGlobal) {
      range = {variable.begin, variable.begin + variable.bytes};
    }
  }
  warp.ranges[operation.number] = range;
}

void find_pointers(Warp& warp, const Operation& operation, uint32_t size, Touch touch,
                   LanePointers* pointers) {
  alignas(64) uint64_t addresses[32];
  read_addresses(warp, operation, addresses);
  find_pointers_at(warp, operation, addresses, size, touch, pointers);
}

void find_pointers_at(Warp& warp, const Operation& operation, const uint64_t* addresses,
                      uint32_t size, Touch touch, LanePointers* pointers) {
  const Access access{warp, operation, size, touch};
  for (uint32_t remaining = warp.mask; remaining != 0; remaining &= remaining - 1) {
    const int lane = __builtin_ctz(remaining);
    pointers->at[lane] = access.pointer(lane, addresses[lane]);
  }
}

unsigned char* find_pointer(Warp& warp, int lane, const Operation& operation, uint64_t address,
                            uint32_t size, Touch touch) {
  return find_bytes(warp, lane, operation, address, size, size, touch);
}

unsigned char* find_bytes(Warp& warp, int lane, const Operation& operation, uint64_t address,
                          uint64_t bytes, uint32_t alignment, Touch touch) {
  Operation access = operation;
  access.space = Space::kGeneric;
  access.variable = kNone;
  access.shared_begin = 0;
  access.shared_end = UINT32_MAX;
  const Access all{warp, access, static_cast<uint32_t>(bytes), touch, alignment};
  return all.pointer(lane, address);
}

}  // namespace kernkit::simulator::ptx
