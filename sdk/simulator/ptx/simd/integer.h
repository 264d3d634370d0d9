// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic on 32 lanes.
#pragma once

#include <type_traits>

#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace integer_steps {

/// The unsigned type in which arithmetic on X wraps around.
template <class X>
using Wrapping = std::conditional_t<sizeof(X) == 8, uint64_t, uint32_t>;
template <class X>
using Wide =
    std::conditional_t<sizeof(X) == 2, std::conditional_t<std::is_signed_v<X>, int32_t, uint32_t>,
                       std::conditional_t<std::is_signed_v<X>, int64_t, uint64_t>>;

struct Add {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(static_cast<Wrapping<X>>(a) + static_cast<Wrapping<X>>(b));
  }
};
struct Sub {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(static_cast<Wrapping<X>>(a) - static_cast<Wrapping<X>>(b));
  }
};
inline int32_t saturated(int64_t x) {
  return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
struct AddSat {
  static int32_t apply(int32_t a, int32_t b) { return saturated(int64_t{a} + b); }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) { return saturated(int64_t{a} - b); }
};
struct MulLo {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(static_cast<Wrapping<X>>(a) * static_cast<Wrapping<X>>(b));
  }
};
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
struct MulHi {
  template <class X>
  static X apply(X a, X b) {
    if constexpr (sizeof(X) == 8) {
      using Wide128 = std::conditional_t<std::is_signed_v<X>, Int128, UInt128>;
      return static_cast<X>(static_cast<Wide128>(a) * static_cast<Wide128>(b) >> 64);
    } else {
      return static_cast<X>(Wide<X>{a} * Wide<X>{b} >> 8 * sizeof(X));
    }
  }
};
struct MulWide {
  template <class X>
  static Wide<X> apply(X a, X b) {
    return Wide<X>{a} * Wide<X>{b};
  }
};
template <class Mul>
struct Mad {
  template <class X, class C>
  static C apply(X a, X b, C c) {
    return Add::apply<C>(static_cast<C>(Mul::apply(a, b)), c);
  }
};
// mad.hi.sat.s32, which clamps the sum to the range of the type.
struct MadHiSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSat::apply(MulHi::apply(a, b), c);
  }
};
// div. The PTX ISA leaves division by zero unspecified; the result has all bits set, as on
// hardware.
struct Div {
  template <class X>
  static X apply(X a, X b) {
    if (b == 0) return static_cast<X>(-1);
    if (std::is_signed_v<X> && b == static_cast<X>(-1)) return Sub::apply<X>(0, a);
    return static_cast<X>(a / b);
  }
};
struct Rem {
  template <class X>
  static X apply(X a, X b) {
    if (b == 0) return a;
    if (std::is_signed_v<X> && b == static_cast<X>(-1)) return 0;
    return static_cast<X>(a % b);
  }
};
struct Min {
  template <class X>
  static X apply(X a, X b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class X>
  static X apply(X a, X b) {
    return a > b ? a : b;
  }
};
/// .relu: returns the result of Op, or 0 if the result is negative.
template <class Op>
struct Relu {
  template <class X>
  static X apply(X a, X b) {
    const X result = Op::apply(a, b);
    return result < 0 ? X{} : result;
  }
};
struct Neg {
  template <class X>
  static X apply(X a) {
    return Sub::apply<X>(0, a);
  }
};
struct Abs {
  template <class X>
  static X apply(X a) {
    return a < 0 ? Sub::apply<X>(0, a) : a;
  }
};

}  // namespace integer_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
