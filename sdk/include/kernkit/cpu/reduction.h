// SPDX-License-Identifier: Apache-2.0
// How the elements of a row become one value: always in the same order.
#pragma once

#include "kernkit/cpu/vectorised.h"

namespace kernkit::cpu::detail {

// Lane j has the elements j, j + kLanes, ... in this order; then halves of the lanes are joined. So
// the bits are those of any instruction set. Lanes fill half the registers of AVX2, or a quarter.
template <int kLanes, class T, class Join>
KERNKIT_INLINE T join_lanes(T (&at)[kLanes], const Join& join) {
  KERNKIT_UNROLLED
  for (int half = kLanes / 2; half > 0; half /= 2) {
    KERNKIT_INDEPENDENT_ITERATIONS
    for (int j = 0; j < half; ++j) at[j] = join(at[j], at[j + half]);
  }
  return at[0];
}

template <class T>
struct Sum {
  static constexpr int kLanes = 256 / sizeof(T);
  static constexpr T kNothing = 0;
  T at[kLanes] = {};

  KERNKIT_INLINE void add(const T (&block)[kBlock]) {
    for (int first = 0; first < kBlock; first += kLanes) {
      KERNKIT_INDEPENDENT_ITERATIONS
      KERNKIT_UNROLLED
      for (int j = 0; j < kLanes; ++j) at[j] += block[first + j];
    }
  }
  KERNKIT_INLINE T result() {
    return join_lanes(at, [](T a, T b) KERNKIT_ALL_INLINE { return a + b; });
  }
};

/// NaN where there is one, though the instruction for a maximum forgets it.
template <class T>
struct Max {
  static constexpr int kLanes = 128 / sizeof(T);
  static constexpr T kNothing = static_cast<T>(-__builtin_inf());
  T at[kLanes], nan[kLanes] = {};

  KERNKIT_INLINE Max() {
    for (T& lane : at) lane = kNothing;
  }
  KERNKIT_INLINE void add(const T (&block)[kBlock]) {
    for (int first = 0; first < kBlock; first += kLanes) {
      KERNKIT_INDEPENDENT_ITERATIONS
      KERNKIT_UNROLLED
      for (int j = 0; j < kLanes; ++j) {
        const T value = block[first + j];
        at[j] = value > at[j] ? value : at[j];
        nan[j] = value == value ? nan[j] : value;
      }
    }
  }
  KERNKIT_INLINE T result() {
    const T found = join_lanes(nan, [](T a, T b) KERNKIT_ALL_INLINE { return a == a ? b : a; });
    const T largest = join_lanes(at, [](T a, T b) KERNKIT_ALL_INLINE { return b > a ? b : a; });
    return found == found ? largest : found;
  }
};

}  // namespace kernkit::cpu::detail
