// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 32 lanes in single and double precision, in the current rounding mode of the
// processor.
#pragma once

#include "ptx/simd/lanes.h"
#include "ptx/simd/real_formats.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace real_steps {

struct Add {
  template <class X>
  static X apply(X a, X b) {
    return canonical(a + b);
  }
};
struct Sub {
  template <class X>
  static X apply(X a, X b) {
    return canonical(a - b);
  }
};
struct Mul {
  template <class X>
  static X apply(X a, X b) {
    return canonical(a * b);
  }
};
struct Div {
  template <class X>
  static X apply(X a, X b) {
    return canonical(a / b);
  }
};
struct Fma {
  template <class X>
  static X apply(X a, X b, X c) {
    return canonical(std::fma(a, b, c));
  }
};
struct Rcp {
  template <class X>
  static X apply(X a) {
    return canonical(1 / a);
  }
};
struct Sqrt {
  template <class X>
  static X apply(X a) {
    return canonical(std::sqrt(a));
  }
};
struct Rsqrt {
  template <class X>
  static X apply(X a) {
    return canonical(static_cast<X>(1 / std::sqrt(static_cast<double>(a))));
  }
};
struct Min {
  template <class X>
  static X apply(X a, X b) {
    return less_of(a, b);
  }
};
struct Max {
  template <class X>
  static X apply(X a, X b) {
    return more_of(a, b);
  }
};
template <class Op>
struct WithNan {
  template <class X>
  static X apply(X a, X b) {
    return a != a || b != b ? canonical(std::numeric_limits<X>::quiet_NaN()) : Op::apply(a, b);
  }
};
/// .xorsign.abs: compares the magnitudes of the sources; the result has the sign of the product of
/// the sources.
template <class Op>
struct XorSign {
  template <class X>
  static X apply(X a, X b) {
    const X d = Op::apply(std::fabs(a), std::fabs(b));
    return d != d ? d : std::copysign(d, std::signbit(a) != std::signbit(b) ? X{-1} : X{1});
  }
};
struct Abs {
  template <class X>
  static X apply(X a) {
    return std::fabs(a);
  }
};
struct Neg {
  template <class X>
  static X apply(X a) {
    return -a;
  }
};
// copysign.f32 d, a, b: returns b with the sign of a.
struct Copysign {
  template <class X>
  static X apply(X a, X b) {
    return std::copysign(b, a);
  }
};
/// .ftz: subnormal sources and results become zeros of the same sign.
template <class Op>
struct Flushed {
  template <class... X>
  static auto apply(X... x) {
    return flush(Op::apply(flush(x)...));
  }
};
/// .sat: the result is clamped to the range 0 to 1; a NaN becomes 0.
template <class Op>
struct Saturated {
  template <class... X>
  static auto apply(X... x) {
    const auto y = Op::apply(x...);
    return y > 0 ? (y > 1 ? decltype(y){1} : y) : decltype(y){0};
  }
};

}  // namespace real_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
