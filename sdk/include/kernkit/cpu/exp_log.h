// SPDX-License-Identifier: Apache-2.0
// e^x and log x for loops that compilers vectorise: the CPU implementation of math.h.
//
// Coefficients are minimax fits made for kernkit (Remez exchange, weighted by the relative error of
// the result), rounded to the type. The functions have no calls, branches or fused multiply-adds.
// Floats are compared as integers, which g++ vectorises with any flags. SSE2 and AVX2 have neither
// comparison nor arithmetic shift of 64-bit integers, so doubles are compared as doubles, which g++
// vectorises with -fno-trapping-math.
#pragma once

#include "kernkit/base/inline.h"
#include "kernkit/float.h"

/// Marks a function of math.h: compiled for the host and for CUDA devices, and inlined with its
/// callees.
#define KERNKIT_MATH KERNKIT_HOST_DEVICE KERNKIT_INLINE

namespace kernkit::math::detail {

using kernkit::detail::bit_cast;

inline constexpr int32_t kInfBits = 0x7f800000;

KERNKIT_MATH int32_t bits_of(float x) { return bit_cast<int32_t>(x); }
KERNKIT_MATH int32_t magnitude_bits(float x) { return bits_of(x) & 0x7fffffff; }
KERNKIT_MATH float magnitude(float x) { return bit_cast<float>(magnitude_bits(x)); }
KERNKIT_MATH float blend(bool condition, float yes, float no) {
  return bit_cast<float>(
      kernkit::detail::select(condition, bit_cast<uint32_t>(yes), bit_cast<uint32_t>(no)));
}
/// x limited to [-bound, bound]; a NaN becomes -bound or `bound`, according to the sign of the NaN.
KERNKIT_MATH float clamp(float x, float bound) {
  const int32_t x_bits = magnitude_bits(x), bound_bits = bits_of(bound);
  return bit_cast<float>((x_bits < bound_bits ? x_bits : bound_bits) | (bits_of(x) & INT32_MIN));
}
/// Returns `value` with the sign of x. `value` must be positive or NaN.
KERNKIT_MATH float with_sign_of(float x, float value) {
  return bit_cast<float>(bits_of(value) | (bits_of(x) & INT32_MIN));
}
KERNKIT_MATH float keep_nan(float x, float result) {
  return blend(magnitude_bits(x) > kInfBits, x, result);
}

/// first * x^n + ... + last, by Horner's rule.
template <class T, class... Rest>
KERNKIT_MATH T polynomial(T x, T first, Rest... rest) {
  ((first = first * x + rest), ...);
  return first;
}

/// a x^3 + b x^2 + c x + d by Estrin's scheme, which has fewer dependent steps than Horner's rule.
KERNKIT_MATH float cubic(float x, float x2, float a, float b, float c, float d) {
  return (a * x + b) * x2 + (c * x + d);
}

// ln 2 in two parts. The first part is so short that its product with an exponent is exact.
inline constexpr float kLn2High = 0x1.63p-1f, kLn2Low = -0x1.bd0106p-13f;

/// e^x = mantissa * 2^n, 0.7 <= mantissa <= 1.5, for |x| <= 110. Adding 1.5 * 2^23 rounds to an
/// integer: the bits of `shifted` are then the bits of 1.5 * 2^23 plus n + kBias.
struct Exp {
  float mantissa;
  uint32_t shifted;
};
template <int kBias = 0>
KERNKIT_MATH Exp exp_parts(float x) {
  constexpr float kRound = 0x1.8p23f + kBias;
  const float shifted = x * 0x1.715476p0f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float r2 = r * r;
  const float q = (0x1.6a234cp-10f * r2 + (0x1.123a6cp-7f * r + 0x1.5558f4p-5f)) * r2 +
                  (0x1.555490p-3f * r + 0x1.fffffcp-2f);
  return {(q * r2 + r) + 1.0f, bit_cast<uint32_t>(shifted)};
}
/// factor * e^x. The power of two is applied in two halves, so that only the last multiplication
/// rounds a subnormal result.
KERNKIT_MATH float times(float factor, const Exp& e) {
  const int32_t exponent = static_cast<int32_t>(e.shifted - 0x4b400000u);
  const int32_t low = exponent >> 1, high = exponent - low;
  return factor * e.mantissa * bit_cast<float>((low + 127) << 23) *
         bit_cast<float>((high + 127) << 23);
}
/// Limit of |x|. For x above the limit, e^-x and x e^-x round to zero, and e^x rounds to infinity.
inline constexpr float kExpLimit = 110.0f;

/// e^x for an x that is not NaN. For NaN, returns e^kExpLimit or e^-kExpLimit, according to the
/// sign of the NaN.
KERNKIT_MATH float exp_of_number(float x) { return times(1.0f, exp_parts(clamp(x, kExpLimit))); }
/// e^x for a result that is added to 1. |x| is limited to 87, which gives the same final result as
/// a larger |x|.
KERNKIT_MATH float exp_to_add(float x) {
  const Exp e = exp_parts(clamp(x, 87.0f));
  return bit_cast<float>(bit_cast<uint32_t>(e.mantissa) + (e.shifted << 23));
}

/// e^x for -131 <= x <= 43, or NaN. The power of two is 2^64 times too large, so that the power is
/// a normal number; the last multiplication, by 2^-64, rounds a subnormal result.
KERNKIT_MATH float exp_to_zero(float x) {
  const Exp e = exp_parts<127 + 64>(x);
  return e.mantissa * bit_cast<float>(e.shifted << 23) * 0x1p-64f;
}
/// e^x for x <= 0, or NaN.
KERNKIT_MATH float exp_of_negative(float x) { return x <= -104.0f ? 0.0f : exp_to_zero(x); }

KERNKIT_MATH float log(float x) {
  const bool tiny = bits_of(x) < 0x00800000;  // subnormal, zero or negative
  const float scaled = x * blend(tiny, 0x1p23f, 1.0f);
  // x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
  const int32_t d = static_cast<int32_t>(bit_cast<uint32_t>(scaled) - 0x3f3504f3u);
  const float e = static_cast<float>(d >> 23) - blend(tiny, 23.0f, 0.0f);
  const float f = bit_cast<float>((d & 0x007fffff) + 0x3f3504f3) - 1.0f;
  const float z = f * f;
  const float p =
      polynomial(f, 0x1.1b431ep-4f, -0x1.e2e9d8p-4f, 0x1.e6508cp-4f, -0x1.fb4322p-4f,
                 0x1.2332c0p-3f, -0x1.5562e4p-3f, 0x1.99a546p-3f, -0x1.ffffeep-3f, 0x1.555546p-2f);
  const float small = (e * kLn2Low + p * z * f) - 0.5f * z;
  const float sum = (f + small) + e * kLn2High;
  const float at_most_inf = blend(magnitude_bits(x) < kInfBits, sum, x + x);
  const float not_below_zero = blend(bits_of(x) < 0, bit_cast<float>(0x7fc00000), at_most_inf);
  return blend(magnitude_bits(x) == 0, bit_cast<float>(0xff800000u), not_below_zero);
}

/// e^x in double precision. Adding 1.5 * 2^52 rounds to an integer, as in exp_parts().
KERNKIT_MATH double exp(double x) {
  constexpr double kRound = 0x1.8p52;
  const double low = x > -750.0 ? x : -750.0;
  const double limited = low < 750.0 ? low : 750.0;
  const double n = (limited * 0x1.71547652b82fep0 + kRound) - kRound;
  const double r = (limited - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  const double q = polynomial(r, 0x1.ad7efed0435f8p-26, 0x1.28adce6540fa8p-22,
                              0x1.71df262e60e49p-19, 0x1.a01999adddff1p-16, 0x1.a01a0129b3a04p-13,
                              0x1.6c16c1844af91p-10, 0x1.1111111127e85p-7, 0x1.55555555507f1p-5,
                              0x1.55555555554f9p-3, 0x1.000000000000ap-1);
  const double mantissa = (q * r * r + r) + 1.0;
  const double half = n * 0.5 + kRound;  // n / 2, rounded, in the low bits
  const double rest = (n - (half - kRound)) + kRound;
  const auto power = [](double shifted) {
    return bit_cast<double>((bit_cast<uint64_t>(shifted) + 1023) << 52);
  };
  const double result = mantissa * power(half) * power(rest);
  return x != x ? x : result;
}

/// log x by s = f / (2 + f), since log(1 + f) = 2 atanh(s).
KERNKIT_MATH double log(double x) {
  constexpr double kInf = __builtin_inf();
  const bool tiny = x < 0x1p-1022;
  const double scaled = x * (tiny ? 0x1p54 : 1.0);
  // Computes the exponent by a logical shift. The shifted bits become the low bits of the double
  // 2^52, which converts them to a double.
  const uint64_t d = bit_cast<uint64_t>(scaled) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  const double shifted = bit_cast<double>((d >> 52) | 0x4330000000000000u);  // 2^52 + (d >> 52)
  const double e = (shifted - (0x1p52 + 1023.0)) - (tiny ? 54.0 : 0.0);
  const double f = bit_cast<double>((d & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double r = z * polynomial(z, 0x1.2b5fc0c734e05p-3, 0x1.39fdb9173ca66p-3,
                                  0x1.7462ba29cd8fap-3, 0x1.c71c62d03623bp-3, 0x1.2492492e03ec0p-2,
                                  0x1.9999999995223p-2, 0x1.5555555555558p-1);
  const double square = 0.5 * f * f;
  const double sum =
      e * 0x1.62e42feep-1 - ((square - (s * (square + r) + e * 0x1.a39ef35793c76p-33)) - f);
  const double at_most_inf = x < kInf ? sum : x + x;
  const double not_below_zero = x < 0.0 ? __builtin_nan("") : at_most_inf;
  return x == 0.0 ? -kInf : not_below_zero;
}

}  // namespace kernkit::math::detail
