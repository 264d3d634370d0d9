// SPDX-License-Identifier: Apache-2.0
// Updates of a number in memory by atom, red and cp.reduce.async.bulk (PTX ISA, "atom").
#pragma once

#include <type_traits>

#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {

// Updates of atomics. apply() returns the new value of the memory from the old value and the
// operands b and c of the instruction.
struct Add {
  template <class X>
  static X apply(X old, X b, X) {
    if constexpr (std::is_floating_point_v<X>) return canonical(old + b);
    if constexpr (std::is_integral_v<X>) {  // sums of signed numbers wrap around
      using Unsigned = std::make_unsigned_t<X>;
      return static_cast<X>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
    }
    return static_cast<X>(old + b);
  }
};
struct Exch {
  template <class X>
  static X apply(X, X b, X) {
    return b;
  }
};
struct Cas {
  template <class X>
  static X apply(X old, X b, X c) {
    return old == b ? c : old;
  }
};
struct Min {
  template <class X>
  static X apply(X old, X b, X) {
    return old < b ? old : b;
  }
};
struct Max {
  template <class X>
  static X apply(X old, X b, X) {
    return old > b ? old : b;
  }
};
struct And {
  template <class X>
  static X apply(X old, X b, X) {
    return old & b;
  }
};
struct Or {
  template <class X>
  static X apply(X old, X b, X) {
    return old | b;
  }
};
struct Xor {
  template <class X>
  static X apply(X old, X b, X) {
    return old ^ b;
  }
};
struct Inc {
  template <class X>
  static X apply(X old, X b, X) {
    return old >= b ? 0 : old + 1;
  }
};
struct Dec {
  template <class X>
  static X apply(X old, X b, X) {
    return old == 0 || old > b ? b : old - 1;
  }
};

}  // namespace kernkit::simulator::ptx
