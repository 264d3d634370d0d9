// SPDX-License-Identifier: Apache-2.0
// Synchronisation and exchange between the threads of a block and of a warp.
#pragma once

#include <string.h>

#include <type_traits>

#include "thread.h"
#include "wrapping.h"

inline void __syncthreads() {
  kernkit::simulator::sync_block(kernkit::simulator::Barrier::kPlain, 0);
}
inline int __syncthreads_count(int predicate) {
  return kernkit::simulator::sync_block(kernkit::simulator::Barrier::kCount, predicate);
}
inline int __syncthreads_and(int predicate) {
  return kernkit::simulator::sync_block(kernkit::simulator::Barrier::kAnd, predicate);
}
inline int __syncthreads_or(int predicate) {
  return kernkit::simulator::sync_block(kernkit::simulator::Barrier::kOr, predicate);
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  kernkit::simulator::WarpValues values;
  kernkit::simulator::sync_warp("__syncwarp", mask, 0, true, &values);
}

namespace kernkit::simulator {

// Always inlined, so that the call of lanes_here() is in the kernel. The empty asm keeps g++ from
// merging the equal calls at the ends of two branches.
__attribute__((always_inline)) inline unsigned active_lanes(const char* function, int line) {
  const unsigned lanes = lanes_here(function, line);
  __asm__ volatile("");
  return lanes;
}

template <class T>
uint64_t pack_lane(const T& value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                "warp functions exchange values of at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T unpack_lane(uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

/// Returns the value of lane `source`; a value of bytes 0xcd if the lane does not participate.
template <class T>
T value_of_lane(const WarpValues& values, unsigned source) {
  const bool is_active = (values.lanes >> source & 1) != 0;
  return unpack_lane<T>(is_active ? values.values[source] : 0xcdcdcdcdcdcdcdcdu);
}

/// Exchanges the values that the lanes of `mask` pass to `function`.
template <class T>
WarpValues values_of_warp(const char* function, unsigned mask, T value) {
  WarpValues values;
  sync_warp(function, mask, pack_lane(value), false, &values);
  return values;
}

template <class T, class Combine>
T reduce_lanes(const char* function, unsigned mask, T value, const Combine& combine) {
  const WarpValues values = values_of_warp(function, mask, value);
  bool first = true;
  T result{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((values.lanes >> lane & 1) == 0) continue;
    const T of_lane = unpack_lane<T>(values.values[lane]);
    result = first ? of_lane : combine(result, of_lane);
    first = false;
  }
  return result;
}

}  // namespace kernkit::simulator

__attribute__((always_inline)) inline unsigned __activemask(int line = __builtin_LINE()) {
  return kernkit::simulator::active_lanes("__activemask", line);
}

// PTX ISA, shfl.sync: `width` splits the warp into parts; a lane whose source is outside its part
// keeps its own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const auto values = kernkit::simulator::values_of_warp("__shfl_sync", mask, value);
  const unsigned size = static_cast<unsigned>(width);
  const unsigned part = kernkit::simulator::lane_id() & ~(size - 1);
  return kernkit::simulator::value_of_lane<T>(values,
                                              part + (static_cast<unsigned>(source) & (size - 1)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const auto values = kernkit::simulator::values_of_warp("__shfl_up_sync", mask, value);
  const unsigned lane = kernkit::simulator::lane_id();
  const unsigned part = lane & (static_cast<unsigned>(width) - 1);
  return part < delta ? value : kernkit::simulator::value_of_lane<T>(values, lane - delta);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const auto values = kernkit::simulator::values_of_warp("__shfl_down_sync", mask, value);
  const unsigned lane = kernkit::simulator::lane_id();
  const unsigned part = lane & (static_cast<unsigned>(width) - 1);
  if (delta >= static_cast<unsigned>(width) - part) return value;
  return kernkit::simulator::value_of_lane<T>(values, lane + delta);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const auto values = kernkit::simulator::values_of_warp("__shfl_xor_sync", mask, value);
  const unsigned lane = kernkit::simulator::lane_id();
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  // `width` splits the warp into parts. A source lane in a later part is out of range; a source
  // lane in an earlier part is valid.
  const unsigned last = lane | (static_cast<unsigned>(width) - 1);
  return source > last || source > 31 ? value
                                      : kernkit::simulator::value_of_lane<T>(values, source);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  kernkit::simulator::WarpValues values;
  kernkit::simulator::sync_warp("__ballot_sync", mask, predicate != 0, false, &values);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((values.lanes >> lane & 1) != 0 && values.values[lane] != 0) result |= 1u << lane;
  }
  return result;
}
inline int __any_sync(unsigned mask, int predicate) {
  return kernkit::simulator::reduce_lanes("__any_sync", mask, static_cast<int>(predicate != 0),
                                          [](int a, int b) { return a | b; });
}
inline int __all_sync(unsigned mask, int predicate) {
  return kernkit::simulator::reduce_lanes("__all_sync", mask, static_cast<int>(predicate != 0),
                                          [](int a, int b) { return a & b; });
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  kernkit::simulator::WarpValues values;
  const uint64_t packed = kernkit::simulator::pack_lane(value);
  kernkit::simulator::sync_warp("__match_any_sync", mask, packed, false, &values);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((values.lanes >> lane & 1) != 0 && values.values[lane] == packed) result |= 1u << lane;
  }
  return result;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  kernkit::simulator::WarpValues values;
  const uint64_t packed = kernkit::simulator::pack_lane(value);
  kernkit::simulator::sync_warp("__match_all_sync", mask, packed, false, &values);
  *predicate = 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((values.lanes >> lane & 1) != 0 && values.values[lane] != packed) *predicate = 0;
  }
  return *predicate != 0 ? values.lanes : 0;
}

#define KERNKIT_WARP_REDUCE(T, name, expression)                                         \
  inline T __reduce_##name##_sync(unsigned mask, T value) {                              \
    return kernkit::simulator::reduce_lanes("__reduce_" #name "_sync", mask, value,      \
                                            [](T a, T b) -> T { return (expression); }); \
  }
KERNKIT_WARP_REDUCE(unsigned, add, a + b)
KERNKIT_WARP_REDUCE(unsigned, min, a < b ? a : b)
KERNKIT_WARP_REDUCE(unsigned, max, a > b ? a : b)
KERNKIT_WARP_REDUCE(unsigned, and, a& b)
KERNKIT_WARP_REDUCE(unsigned, or, a | b)
KERNKIT_WARP_REDUCE(unsigned, xor, a ^ b)
KERNKIT_WARP_REDUCE(int, add, kernkit::simulator::wrapping_add(a, b))
KERNKIT_WARP_REDUCE(int, min, a < b ? a : b)
KERNKIT_WARP_REDUCE(int, max, a > b ? a : b)
#undef KERNKIT_WARP_REDUCE
