// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 32 or 64 floating-point numbers of 16 bits.
#pragma once

#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace half_steps {

// The operations except Fma compute in float. A product of two 16-bit numbers is exact in float. A
// sum that is rounded to float and then to 16 bits equals the sum that is rounded once, since the
// significand of float has more than twice as many bits.
struct Add {
  template <class H>
  static H apply(H a, H b) {
    return H::from(a.value() + b.value());
  }
};
struct Sub {
  template <class H>
  static H apply(H a, H b) {
    return H::from(a.value() - b.value());
  }
};
struct Mul {
  template <class H>
  static H apply(H a, H b) {
    return H::from(a.value() * b.value());
  }
};
struct Fma {
  template <class H>
  static H apply(H a, H b, H c) {
    const double product = double{a.value()} * double{b.value()};
    return H::from(narrow_to_odd(sum_to_odd(product, c.value())));
  }
};
struct Min {
  template <class H>
  static H apply(H a, H b) {
    const float x = a.value(), y = b.value();
    const bool first = y != y || x < y || (x == y && (a.bits & 0x8000u) != 0);
    return x != x && y != y ? H::from(x) : (x == x && first ? a : b);
  }
};
struct Max {
  template <class H>
  static H apply(H a, H b) {
    const float x = a.value(), y = b.value();
    const bool first = y != y || x > y || (x == y && (a.bits & 0x8000u) == 0);
    return x != x && y != y ? H::from(x) : (x == x && first ? a : b);
  }
};
template <class Op>
struct WithNan {
  template <class H>
  static H apply(H a, H b) {
    const float sum = a.value() + b.value();
    const bool any = a.value() != a.value() || b.value() != b.value();
    return any ? H::from(sum) : Op::apply(a, b);
  }
};
/// .xorsign.abs: compares the magnitudes of the sources; the result has the sign of the product of
/// the sources.
template <class Op>
struct XorSign {
  template <class H>
  static H apply(H a, H b) {
    const H d = Op::apply(H{static_cast<uint16_t>(a.bits & 0x7fffu)},
                          H{static_cast<uint16_t>(b.bits & 0x7fffu)});
    const auto sign = static_cast<uint16_t>((a.bits ^ b.bits) & 0x8000u);
    return d.value() != d.value() ? d : H{static_cast<uint16_t>(d.bits | sign)};
  }
};
/// .ftz of .f16: subnormal sources and results become zeros of the same sign.
template <class Op>
struct Flushed {
  static Half flush_half(Half x) {
    return {static_cast<uint16_t>((x.bits & 0x7c00u) == 0 ? x.bits & 0x8000u : x.bits)};
  }
  template <class... H>
  static Half apply(H... x) {
    return flush_half(Op::apply(flush_half(x)...));
  }
};
struct Abs {
  template <class H>
  static H apply(H a) {
    return {static_cast<uint16_t>(a.bits & 0x7fffu)};
  }
};
struct Neg {
  template <class H>
  static H apply(H a) {
    return {static_cast<uint16_t>(a.bits ^ 0x8000u)};
  }
};
/// .sat: the result is clamped to the range 0 to 1; a NaN becomes 0.
template <class Op>
struct Sat {
  template <class H, class... Rest>
  static H apply(H x, Rest... rest) {
    const float y = Op::apply(x, rest...).value();
    return H::from(y > 0 ? (y > 1 ? 1.0f : y) : 0.0f);
  }
};
/// fma.relu: a negative result becomes 0; a NaN stays a NaN.
template <class Op>
struct Relu {
  template <class H, class... Rest>
  static H apply(H x, Rest... rest) {
    const H y = Op::apply(x, rest...);
    return y.value() < 0 || y.bits == 0x8000u ? H{0} : y;
  }
};

}  // namespace half_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
