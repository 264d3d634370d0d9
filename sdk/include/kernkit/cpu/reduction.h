// SPDX-License-Identifier: Apache-2.0
// Reduction of a row's elements to one value, always in the same order.
#pragma once

#include <type_traits>

#include "kernkit/cpu/vectorised.h"

namespace kernkit::cpu::detail {

// A reduction with kLanes lanes. Lane j accumulates the elements j, j + kLanes, ... of the blocks,
// in order; then the upper half of the lanes is joined to the lower half, until one lane is left.
// The order, and thus the bits of the result, is the same for every instruction set. The lanes fill
// a half or a quarter of the AVX2 registers. A loop over the lanes is unrolled completely or not at
// all, so that the lanes stay in registers.
template <int kLanes, class T, class Join>
KERNKIT_INLINE T join_lanes(const T (&at)[kLanes], const Join& join) {
  T joined[kLanes / 2];
  if constexpr (kLanes > 32) {
    KERNKIT_INDEPENDENT_ITERATIONS
    for (int j = 0; j < kLanes / 2; ++j) joined[j] = join(at[j], at[j + kLanes / 2]);
  } else {
    KERNKIT_INDEPENDENT_ITERATIONS
    KERNKIT_NOT_UNROLLED
    for (int j = 0; j < kLanes / 2; ++j) joined[j] = join(at[j], at[j + kLanes / 2]);
  }
  if constexpr (kLanes == 2) {
    return joined[0];
  } else {
    return join_lanes(joined, join);
  }
}

template <class T>
struct Sum {
  static constexpr int kLanes = 256 / sizeof(T);
  static constexpr T kIdentity = 0;
  T at[kLanes];

  KERNKIT_INLINE Sum() {
    for (T& lane : at) lane = kIdentity;
  }
  KERNKIT_INLINE void add(const T (&block)[kBlock]) {
    for (int first = 0; first < kBlock; first += kLanes) {
      KERNKIT_INDEPENDENT_ITERATIONS
      for (int j = 0; j < kLanes; ++j) at[j] += block[first + j];
    }
  }
  KERNKIT_INLINE T result() {
    return join_lanes(at, [](T a, T b) KERNKIT_ALL_INLINE { return a + b; });
  }
};

/// The maximum, or NaN if an element is NaN. The maximum instruction drops a NaN, so `nan` records
/// the lanes that had a NaN.
template <class T>
struct Max {
  static constexpr int kLanes = 128 / sizeof(T);
  static constexpr T kIdentity = static_cast<T>(-__builtin_inf());
  using Mask = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  T at[kLanes];
  Mask nan[kLanes];  // all bits are set if the lane had a NaN

  KERNKIT_INLINE Max() {
    for (T& lane : at) lane = kIdentity;
    for (Mask& lane : nan) lane = 0;
  }
  KERNKIT_INLINE void add(const T (&block)[kBlock]) {
    for (int first = 0; first < kBlock; first += 2 * kLanes) {
      KERNKIT_INDEPENDENT_ITERATIONS
      for (int j = 0; j < kLanes; ++j) {
        const T a = block[first + j], b = block[first + kLanes + j];
        const T larger = a > b ? a : b;
        at[j] = larger > at[j] ? larger : at[j];
        nan[j] |= -static_cast<Mask>(__builtin_isunordered(a, b));
      }
    }
  }
  KERNKIT_INLINE T result() {
    const Mask nan_lanes = join_lanes(nan, [](Mask a, Mask b) KERNKIT_ALL_INLINE { return a | b; });
    const T largest = join_lanes(at, [](T a, T b) KERNKIT_ALL_INLINE { return b > a ? b : a; });
    return nan_lanes == 0 ? largest : static_cast<T>(__builtin_nan(""));
  }
};

}  // namespace kernkit::cpu::detail
