// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Floating-Point Instructions", for .f32 and .f64.
#include "ptx/simd/real_formats.h"

#include <cfenv>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/simd/real.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace real_steps;  // NOLINT(build/namespaces): its own steps

// Runs the loop kInner in another rounding mode of the processor. Compilers keep the loop between
// the two calls of fesetround(), since the loop accesses memory that the calls may also access.
template <int kMode, Run kInner>
void in_mode(Warp& warp, const Operation& operation) {
  std::fesetround(kMode);
  kInner(warp, operation);
  std::fesetround(FE_TONEAREST);
}

template <int kMode, Run kInner>
constexpr Run kRounded = kMode == FE_TONEAREST ? kInner : in_mode<kMode, kInner>;

// PTX ISA, "div": div.approx multiplies a by the reciprocal of b. A subnormal reciprocal, for |b|
// above 2^126, is flushed to zero.
struct DivByReciprocal {
  static constexpr float kGreatest = 8.507059173023462e37f;  // 2^126
  static float apply(float a, float b) {
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

template <int kMode, template <class> class Form, class Op>
Run in_rounding_of_pairs(bool flushes) {
  if constexpr (std::is_same_v<Form<Op>, Unary<Op>>) {
    return nullptr;
  } else {
    return flushes ? kRounded<kMode, Form<Flushed<Op>>::wide> : kRounded<kMode, Form<Op>::wide>;
  }
}

template <int kMode, template <class> class Form, class Op>
Run in_rounding(Type type, bool flushes, bool saturates) {
  using S = Saturated<Op>;
  if (type == Type::kF64) {
    return flushes || saturates ? nullptr : kRounded<kMode, Form<Op>::template run<double>>;
  }
  if (type == Type::kF32x2) return in_rounding_of_pairs<kMode, Form, Op>(flushes);
  if (type != Type::kF32) return nullptr;
  if (saturates) {
    return flushes ? kRounded<kMode, Form<Flushed<S>>::template run<float>>
                   : kRounded<kMode, Form<S>::template run<float>>;
  }
  return flushes ? kRounded<kMode, Form<Flushed<Op>>::template run<float>>
                 : kRounded<kMode, Form<Op>::template run<float>>;
}

template <template <class> class Form, class Op>
Run in_rounding(std::string_view how, Type type, bool flushes, bool saturates) {
  if (how == "rz") return in_rounding<FE_TOWARDZERO, Form, Op>(type, flushes, saturates);
  if (how == "rm") return in_rounding<FE_DOWNWARD, Form, Op>(type, flushes, saturates);
  if (how == "rp") return in_rounding<FE_UPWARD, Form, Op>(type, flushes, saturates);
  return in_rounding<FE_TONEAREST, Form, Op>(type, flushes, saturates);
}

// Decodes add, sub, mul and fma. The default rounding is .rn. Only .f32 supports .sat; .f32x2 and
// .f64 do not.
template <template <class> class Form, class Op>
Run rounded(Decoder& d, Type type, size_t count) {
  if (is_half(type)) return half_arithmetic(d, type);
  const std::string_view how = d.one_of({"rn", "rz", "rm", "rp"});
  const bool saturates = type == Type::kF32 && d.has("sat");
  d.need_operands(count);
  d.take(type);
  return in_rounding<Form, Op>(how, type, d.has("ftz"), saturates);
}

// The minimum or maximum of three operands; of their magnitudes if kMagnitudes is set, for .abs.
template <class Op, bool kMagnitudes>
struct OfThree {
  template <class X>
  static X apply(X a, X b, X c) {
    if (kMagnitudes) return Op::apply(Op::apply(std::fabs(a), std::fabs(b)), std::fabs(c));
    return Op::apply(Op::apply(a, b), c);
  }
};
template <class Op>
Run least_of_three(Decoder& d, Type type) {
  if (type != Type::kF32 || d.has("xorsign")) return nullptr;
  return d.has("abs") ? real<Ternary, OfThree<Op, true>>(d, type, 4)
                      : real<Ternary, OfThree<Op, false>>(d, type, 4);
}

template <class Op>
Run least_of(Decoder& d, Type type) {
  if (d.operands() == 4) return least_of_three<Op>(d, type);
  if (!d.has("xorsign")) return real<Binary, Op>(d, type, 3);
  return d.has("abs") ? real<Binary, XorSign<Op>>(d, type, 3) : nullptr;
}
template <class Op>
Run least(Decoder& d, Type type) {
  if (is_half(type)) return half_arithmetic(d, type);
  return d.has("NaN") ? least_of<WithNan<Op>>(d, type) : least_of<Op>(d, type);
}

// Returns x with the low 32 bits set to 0, so 20 bits of the mantissa remain.
double high_half(double x) { return bit_cast<double>(bit_cast<uint64_t>(x) & 0xffffffff00000000u); }

// PTX ISA, "rcp.approx.ftz.f64" and "rsqrt.approx.ftz.f64": the low 32 bits of source and result
// are zero; a subnormal number becomes a zero of the same sign.
template <class Op>
struct OfHighHalf {
  static double flushed(double x) {
    return std::fabs(x) < std::numeric_limits<double>::min() ? std::copysign(0.0, x) : x;
  }
  static double apply(double a) {
    if (a != a) return canonical(a);
    return high_half(flushed(Op::apply(flushed(high_half(a)))));
  }
};

// Decodes sqrt and rcp with a rounding or .approx. Approximations are computed in full precision,
// since the ISA only bounds their error.
template <class Op>
Run root_or_reciprocal(Decoder& d, Type type) {
  const std::string_view how = d.one_of({"rn", "rz", "rm", "rp", "approx"});
  if (how.empty()) return nullptr;
  d.need_operands(2);
  d.take(type);
  return in_rounding<Unary, Op>(how, type, d.has("ftz"), false);
}

}  // namespace

Run real_add(Decoder& d, Type type) { return rounded<Binary, Add>(d, type, 3); }
Run real_sub(Decoder& d, Type type) { return rounded<Binary, Sub>(d, type, 3); }
Run real_mul(Decoder& d, Type type) { return rounded<Binary, Mul>(d, type, 3); }
Run fma(Decoder& d) { return rounded<Ternary, Fma>(d, d.type(), 4); }
// Decodes mad without a rounding, which only PTX for sm_10 to sm_13 has. Later devices execute
// fma.rn.ftz instead.
Run mad_of_first_devices(Decoder& d) { return d.is_for_first_devices() ? fma(d) : nullptr; }
Run real_div(Decoder& d, Type type) {
  const std::string_view how = d.one_of({"rn", "rz", "rm", "rp", "approx", "full"});
  const bool approximates = how == "approx" || how == "full";
  if (how.empty() || (approximates && type != Type::kF32)) return nullptr;
  d.need_operands(3);
  d.take(type);
  const bool flushes = d.has("ftz");
  if (how != "approx") return in_rounding<Binary, Div>(how, type, flushes, false);
  return flushes ? Binary<Flushed<DivByReciprocal>>::run<float>
                 : Binary<DivByReciprocal>::run<float>;
}
Run rcp(Decoder& d) {
  const Type type = d.type();
  if (type != Type::kF64 || !d.has("approx")) return root_or_reciprocal<Rcp>(d, type);
  d.need_operands(2);
  d.take(type);
  return d.has("ftz") ? Unary<OfHighHalf<Rcp>>::run<double> : nullptr;
}
Run sqrt(Decoder& d) {
  const Type type = d.type();
  if (type == Type::kF64 && d.has("approx")) return nullptr;
  return root_or_reciprocal<Sqrt>(d, type);
}
Run rsqrt(Decoder& d) {
  const Type type = d.type();
  if (!d.has("approx")) return nullptr;
  if (type != Type::kF64 || !d.has("ftz")) return real<Unary, Rsqrt>(d, type, 2);
  d.need_operands(2);
  d.take(type);
  return Unary<OfHighHalf<Rsqrt>>::run<double>;
}
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

}  // namespace kernkit::simulator::ptx
