// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Half Precision Floating-Point Instructions", and the same of .bf16.
#include "ptx/lanes/half.h"

#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

// A sum of two of them, rounded to float, rounds as if it were rounded once: float has more than
// twice their bits. So does a product, which is exact.
struct Add {
  template <class H>
  static H of(H a, H b) {
    return H::from(a.value() + b.value());
  }
};
struct Sub {
  template <class H>
  static H of(H a, H b) {
    return H::from(a.value() - b.value());
  }
};
struct Mul {
  template <class H>
  static H of(H a, H b) {
    return H::from(a.value() * b.value());
  }
};
struct Fma {
  template <class H>
  static H of(H a, H b, H c) {
    const double product = double{a.value()} * double{b.value()};
    return H::from(narrow_to_odd(sum_to_odd(product, c.value())));
  }
};
struct Min {
  template <class H>
  static H of(H a, H b) {
    const float x = a.value(), y = b.value();
    const bool first = y != y || x < y || (x == y && (a.bits & 0x8000u) != 0);
    return x != x && y != y ? H::from(x) : (x == x && first ? a : b);
  }
};
struct Max {
  template <class H>
  static H of(H a, H b) {
    const float x = a.value(), y = b.value();
    const bool first = y != y || x > y || (x == y && (a.bits & 0x8000u) == 0);
    return x != x && y != y ? H::from(x) : (x == x && first ? a : b);
  }
};
template <class Op>
struct WithNan {
  template <class H>
  static H of(H a, H b) {
    const float sum = a.value() + b.value();
    const bool any = a.value() != a.value() || b.value() != b.value();
    return any ? H::from(sum) : Op::of(a, b);
  }
};
struct Abs {
  template <class H>
  static H of(H a) {
    return {static_cast<uint16_t>(a.bits & 0x7fffu)};
  }
};
struct Neg {
  template <class H>
  static H of(H a) {
    return {static_cast<uint16_t>(a.bits ^ 0x8000u)};
  }
};
/// fma.relu: what is negative or a NaN becomes 0; a NaN stays one.
template <class Op>
struct Relu {
  template <class H, class... Rest>
  static H of(H x, Rest... rest) {
    const H y = Op::of(x, rest...);
    return y.value() < 0 || y.bits == 0x8000u ? H{0} : y;
  }
};

template <class Op>
Run least(Decoder& d, Type type) {
  return d.has("NaN") ? of_half<Binary<WithNan<Op>>>(type) : of_half<Binary<Op>>(type);
}

}  // namespace

Run half_arithmetic(Decoder& d, Type type) {
  if (of_half<Unary<Neg>>(type) == nullptr) return nullptr;
  const std::string_view name = d.name();
  d.ignore({"rn"});
  d.need_operands(name == "fma" ? 4 : name == "abs" || name == "neg" ? 2 : 3);
  d.take(type);
  if (name == "add") return of_half<Binary<Add>>(type);
  if (name == "sub") return of_half<Binary<Sub>>(type);
  if (name == "mul") return of_half<Binary<Mul>>(type);
  if (name == "fma") {
    return d.has("relu") ? of_half<Ternary<Relu<Fma>>>(type) : of_half<Ternary<Fma>>(type);
  }
  if (name == "min") return least<Min>(d, type);
  if (name == "max") return least<Max>(d, type);
  if (name == "abs") return of_half<Unary<Abs>>(type);
  return name == "neg" ? of_half<Unary<Neg>>(type) : nullptr;
}

}  // namespace kernkit::cuda_on_cpu::ptx
