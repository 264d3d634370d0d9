// SPDX-License-Identifier: Apache-2.0
// References for a kernel's results: exact decoding, one correct rounding, equality of bits.
//
// The functions do not use the conversions of float.h, so that tests detect a fault in float.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernkit/float.h"

namespace kernkit::testing {

/// Layout of a floating-point type: sign, exponent, mantissa, from the highest bit. Specialised for
/// float16, bfloat16 and float. Source: IEEE 754-2019, 3.4, for float16 and float; bfloat16 is the
/// upper half of a float.
template <class T>
struct FloatFormat;
/// Layout of float16: binary16 of IEEE 754.
template <>
struct FloatFormat<float16> {
  using Bits = uint16_t;                   ///< integer of 16 bits, as many as the type has
  static constexpr int kExponentBits = 5,  ///< bits of the exponent, biased by 2^4 - 1
      kMantissaBits = 10;                  ///< bits of the mantissa, without the hidden bit
};
/// Layout of bfloat16: the upper half of a float.
template <>
struct FloatFormat<bfloat16> {
  using Bits = uint16_t;                   ///< integer of 16 bits, as many as the type has
  static constexpr int kExponentBits = 8,  ///< bits of the exponent, biased by 2^7 - 1
      kMantissaBits = 7;                   ///< bits of the mantissa, without the hidden bit
};
/// Layout of float: binary32 of IEEE 754.
template <>
struct FloatFormat<float> {
  using Bits = uint32_t;                   ///< integer of 32 bits, as many as the type has
  static constexpr int kExponentBits = 8,  ///< bits of the exponent, biased by 2^7 - 1
      kMantissaBits = 23;                  ///< bits of the mantissa, without the hidden bit
};

/// Returns the value of To with the bits of `from`. Both types must be trivially copyable; types of
/// different sizes do not compile. Throws nothing.
template <class To, class From>
To copy_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "copy_bits requires two types of the same size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Returns the exact value of a bit pattern of T, which has a FloatFormat (IEEE 754-2019, 3.4).
/// Requires that the sign bit of the pattern and all higher bits are 0. The pattern of infinity
/// gives the number that would follow the largest number, and patterns of NaN give larger numbers.
/// Throws nothing.
template <class T>
double decode_magnitude(uint32_t pattern) {
  using F = FloatFormat<T>;
  constexpr int kBias = (1 << (F::kExponentBits - 1)) - 1;
  constexpr uint32_t kHidden = uint32_t{1} << F::kMantissaBits;
  const auto exponent = static_cast<int>(pattern / kHidden);
  const uint32_t mantissa = pattern % kHidden + (exponent == 0 ? 0 : kHidden);
  return std::ldexp(mantissa, (exponent == 0 ? 1 : exponent) - kBias - F::kMantissaBits);
}

/// Returns the exact value of a stored element, with the sign of zero and of infinity; any NaN
/// gives a NaN, false and true give 0 and 1, and integers beyond 2^53 are rounded to nearest. T is
/// bool, an integer, float or double, or has a FloatFormat. Throws nothing.
template <class T>
double decode(T element) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(element);
  } else {
    using F = FloatFormat<T>;
    constexpr uint32_t kSign = uint32_t{1} << (F::kExponentBits + F::kMantissaBits);
    constexpr uint32_t kInfinity = kSign - (uint32_t{1} << F::kMantissaBits);
    const uint32_t bits = copy_bits<typename F::Bits>(element);
    const uint32_t magnitude = bits & (kSign - 1);
    const double value = magnitude > kInfinity    ? std::numeric_limits<double>::quiet_NaN()
                         : magnitude == kInfinity ? std::numeric_limits<double>::infinity()
                                                  : decode_magnitude<T>(magnitude);
    return (bits & kSign) != 0 ? -value : value;
  }
}

/// Returns the element of T nearest to `value`, ties to the even bit pattern (IEEE 754-2019, 4.3.1,
/// roundTiesToEven), also for subnormal results. A magnitude that rounds beyond the largest number
/// gives infinity, and NaN gives a quiet NaN; every result has the sign of `value`. T is double or
/// has a FloatFormat. The function bisects the bit patterns, which ascend like their values. Throws
/// nothing.
template <class T>
T round_to(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    using F = FloatFormat<T>;
    constexpr uint32_t kSign = uint32_t{1} << (F::kExponentBits + F::kMantissaBits);
    constexpr uint32_t kInfinity = kSign - (uint32_t{1} << F::kMantissaBits);
    const double magnitude = std::fabs(value);
    uint32_t below = 0;  // largest pattern so far whose value is at most the magnitude
    uint32_t above = kInfinity;
    while (above - below > 1) {
      const uint32_t middle = below + (above - below) / 2;
      (decode_magnitude<T>(middle) <= magnitude ? below : above) = middle;
    }
    const double half = (decode_magnitude<T>(below) + decode_magnitude<T>(above)) / 2;
    uint32_t bits = magnitude > half || (magnitude == half && below % 2 == 1) ? above : below;
    if (std::isnan(value)) bits = kInfinity | (kInfinity >> 1 & ~kInfinity);
    if (std::signbit(value)) bits |= kSign;
    return copy_bits<T>(static_cast<typename F::Bits>(bits));
  }
}

/// Returns whether `a` and `b` have the same bits or both are NaN: the bits of a NaN depend on the
/// machine. 0 and -0 differ. T is a type of decode(). Throws nothing.
template <class T>
bool same_bits(T a, T b) {
  if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
  return std::isnan(decode(a)) && std::isnan(decode(b));
}

/// Returns the number of binary digits of T's significand, including the hidden digit: 24 for
/// float; for an integer, the number of its bits without the sign; 1 for bool. T is a type of
/// decode(). Throws nothing.
template <class T>
constexpr int significand_digits() {
  if constexpr (std::is_arithmetic_v<T>) {
    return std::numeric_limits<T>::digits;
  } else {
    return FloatFormat<T>::kMantissaBits + 1;
  }
}

/// Returns whether `actual` is `exact` up to a last rounding to T and `roundings` >= 0 earlier
/// roundings in compute_t<T>: whether |actual - exact| <= |exact| (2^-p + roundings 2^-q), where p
/// and q are significand_digits() of T and of compute_t<T>. float16 permits 2^-24 more, for
/// subnormal results; subnormal results of other types may fail. NaN matches NaN only, and an
/// infinity only itself. T is double or has a FloatFormat. The bound is too small where large
/// numbers cancel. Throws nothing.
template <class T>
bool is_near(T actual, double exact, int roundings = 8) {
  const double value = decode(actual);
  if (std::isnan(exact) || std::isinf(exact)) {
    return std::isnan(exact) ? std::isnan(value) : value == exact;
  }
  const double relative = std::ldexp(1.0, -significand_digits<T>()) +
                          std::ldexp(roundings, -significand_digits<compute_t<T>>());
  // Subnormal numbers of float16 are 2^-24 apart. Tests use no other type's subnormal numbers.
  const double absolute = significand_digits<T>() == 11 ? 0x1p-24 : 0.0;
  return std::fabs(value - exact) <= std::fabs(exact) * relative + absolute;
}

/// Returns the lowest i with 0 <= i < n for which same_bits(actual(i), expected(i)) is false, or -1
/// if there is none, also for n <= 0. Both functions take an int64_t and return the same type, a
/// type of decode(). Calls both functions for ascending i, up to the result. Throws only the
/// exceptions of both functions.
template <class Actual, class Expected>
int64_t first_difference(int64_t n, const Actual& actual, const Expected& expected) {
  for (int64_t i = 0; i < n; ++i) {
    if (!same_bits(actual(i), expected(i))) return i;
  }
  return -1;
}

}  // namespace kernkit::testing
