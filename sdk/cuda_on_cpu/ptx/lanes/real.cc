// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Floating-Point Instructions", of 32 and 64 bits.
#include "ptx/lanes/real.h"

#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"
#include "ptx/lanes/steps/real.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

using namespace real_steps;  // NOLINT(build/namespaces): its own steps

// Other roundings, of 32 bits.
template <Rounding kHow>
struct AddRounded {
  static float of(float a, float b) {
    const double sum = sum_to_odd(a, b);
    if (kHow == Rounding::kDown && sum == 0 && !(a == 0 && std::signbit(a) == std::signbit(b))) {
      return -0.0f;
    }
    return canonical(narrow<kHow>(sum));
  }
};
template <Rounding kHow>
struct SubRounded {
  static float of(float a, float b) { return AddRounded<kHow>::of(a, -b); }
};
template <Rounding kHow>
struct MulRounded {
  static float of(float a, float b) { return canonical(narrow<kHow>(double{a} * double{b})); }
};
template <Rounding kHow>
struct FmaRounded {
  static float of(float a, float b, float c) {
    const double product = double{a} * double{b};
    const double sum = sum_to_odd(product, c);
    if (kHow == Rounding::kDown && sum == 0 &&
        !(product == 0 && std::signbit(product) == std::signbit(c))) {
      return -0.0f;
    }
    return canonical(narrow<kHow>(sum));
  }
};

// PTX ISA, "div": by the reciprocal, which is zero where it would be subnormal.
struct DivByReciprocal {
  static constexpr float kGreatest = 8.507059173023462e37f;  // 2^126
  static float of(float a, float b) {
    return canonical(std::fabs(b) > kGreatest ? a * std::copysign(0.0f, b) : a / b);
  }
};

bool is_half(Type type) {
  return size_of(type) == 2 || type == Type::kF16x2 || type == Type::kBF16x2;
}

template <template <class> class Form, class Op>
Run real(Decoder& d, Type type, size_t count) {
  d.need_operands(count);
  d.take(type);
  return of_real<Form<Op>, Form<Flushed<Op>>>(type, d.has("ftz"));
}

// .rn, which is also what is meant without it, or another rounding of 32 bits.
template <template <class> class Form, class Op, template <Rounding> class Other>
Run rounded(Decoder& d, Type type, size_t count) {
  if (is_half(type)) return half_arithmetic(d, type);
  const std::string_view how = d.one_of({"rn", "rz", "rm", "rp"});
  const bool nearest = how.empty() || how == "rn";
  if (nearest && type == Type::kF32 && d.has("sat")) {
    d.need_operands(count);
    d.take(type);
    using S = Saturated<Op>;
    return d.has("ftz") ? Form<Flushed<S>>::template of<float> : Form<S>::template of<float>;
  }
  if (nearest) return real<Form, Op>(d, type, count);
  d.need_operands(count);
  d.take(type);
  if (type != Type::kF32) return nullptr;
  if (how == "rz") return Form<Other<Rounding::kZero>>::template of<float>;
  if (how == "rm") return Form<Other<Rounding::kDown>>::template of<float>;
  return Form<Other<Rounding::kUp>>::template of<float>;
}

template <class Op>
Run least(Decoder& d, Type type) {
  if (is_half(type)) return half_arithmetic(d, type);
  d.need_operands(3);
  return d.has("NaN") ? real<Binary, WithNan<Op>>(d, type, 3) : real<Binary, Op>(d, type, 3);
}

// Approximations are computed with the full precision: the ISA bounds their error only.
template <template <class> class Form, class Op>
Run approximated(Decoder& d, Type type, size_t count) {
  if (d.one_of({"rn", "approx"}).empty()) return nullptr;
  return real<Form, Op>(d, type, count);
}

}  // namespace

Run real_add(Decoder& d, Type type) { return rounded<Binary, Add, AddRounded>(d, type, 3); }
Run real_sub(Decoder& d, Type type) { return rounded<Binary, Sub, SubRounded>(d, type, 3); }
Run real_mul(Decoder& d, Type type) { return rounded<Binary, Mul, MulRounded>(d, type, 3); }
Run fma(Decoder& d) { return rounded<Ternary, Fma, FmaRounded>(d, d.type(), 4); }
Run real_div(Decoder& d, Type type) {
  const std::string_view how = d.one_of({"rn", "approx", "full"});
  if (how.empty() || (how != "rn" && type != Type::kF32)) return nullptr;
  if (how != "approx") return real<Binary, Div>(d, type, 3);
  d.need_operands(3);
  d.take(type);
  return d.has("ftz") ? Binary<Flushed<DivByReciprocal>>::of<float>
                      : Binary<DivByReciprocal>::of<float>;
}
Run rcp(Decoder& d) { return approximated<Unary, Rcp>(d, d.type(), 2); }
Run sqrt(Decoder& d) { return approximated<Unary, Sqrt>(d, d.type(), 2); }
Run rsqrt(Decoder& d) { return approximated<Unary, Rsqrt>(d, d.type(), 2); }
Run real_min(Decoder& d, Type type) { return least<Min>(d, type); }
Run real_max(Decoder& d, Type type) { return least<Max>(d, type); }
Run real_abs(Decoder& d, Type type) {
  const Run half = half_arithmetic(d, type);
  return half != nullptr ? half : real<Unary, Abs>(d, type, 2);
}
Run real_neg(Decoder& d, Type type) {
  const Run half = half_arithmetic(d, type);
  return half != nullptr ? half : real<Unary, Neg>(d, type, 2);
}
Run copysign(Decoder& d) { return real<Binary, Copysign>(d, d.type(), 3); }

}  // namespace kernkit::cuda_on_cpu::ptx
