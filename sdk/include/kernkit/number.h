// SPDX-License-Identifier: Apache-2.0
// Numbers read at compile time, for the defaults of a schema line.
#pragma once

#include <stdint.h>

namespace kernkit::schema {

/// A decimal integer with an optional sign. False when it is none or exceeds int64.
constexpr bool parse_int(const char* text, int size, int64_t* out) {
  const bool negative = size > 0 && text[0] == '-';
  int64_t value = 0;
  for (int i = negative ? 1 : 0; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    if (__builtin_mul_overflow(value, 10, &value)) return false;
    const int digit = text[i] - '0';
    if (__builtin_add_overflow(value, negative ? -digit : digit, &value)) return false;
  }
  *out = value;
  return size > (negative ? 1 : 0);
}

namespace detail {

__extension__ typedef unsigned __int128 Uint128;

/// value * 2^exponent, rounded to nearest even; `more` says that value was cut short. The result
/// must be a normal double.
constexpr double round_to_double(Uint128 value, bool more, int exponent) {
  int surplus = 0;  // bits beyond the 53 of a double
  while (value >> surplus >> 53 != 0) ++surplus;
  auto mantissa = static_cast<uint64_t>(value >> surplus);
  const Uint128 cut = value - (Uint128{mantissa} << surplus);
  const Uint128 half = surplus == 0 ? 0 : Uint128{1} << (surplus - 1);
  if (surplus != 0 && (cut > half || (cut == half && (more || mantissa % 2 != 0)))) ++mantissa;
  auto result = static_cast<double>(mantissa);
  for (exponent += surplus; exponent > 0; --exponent) result *= 2;
  for (; exponent < 0; ++exponent) result /= 2;
  return result;
}

}  // namespace detail

/// A decimal number "-12.5e-3", or "inf", rounded to the nearest double. At most 18 digits
/// and a power of ten within 27: with 5^27 < 2^63 the arithmetic is exact in 128 bits.
constexpr bool parse_float(const char* text, int size, double* out) {
  const bool negative = size > 0 && text[0] == '-';
  int i = negative ? 1 : 0;
  if (size - i == 3 && text[i] == 'i' && text[i + 1] == 'n' && text[i + 2] == 'f') {
    *out = negative ? -__builtin_inf() : __builtin_inf();
    return true;
  }
  int64_t digits = 0;
  int count = 0;
  int64_t exponent = 0;
  bool point = false;
  for (; i < size && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9' || digits > 99999999999999999) return false;
    digits = digits * 10 + (text[i] - '0');
    exponent -= point;
    ++count;
  }
  if (count == 0) return false;
  if (i < size) {
    ++i;
    if (size - i > 1 && text[i] == '+' && text[i + 1] != '-') ++i;
    int64_t written = 0;
    if (!parse_int(text + i, size - i, &written) || written > 99 || written < -99) return false;
    exponent += written;
  }
  if (exponent < -27 || exponent > 27) return false;
  uint64_t power = 1;  // of five; the power of two goes into the exponent
  for (int64_t k = exponent < 0 ? -exponent : exponent; k > 0; --k) power *= 5;
  double value = 0;
  if (exponent >= 0) {
    const detail::Uint128 product = detail::Uint128{static_cast<uint64_t>(digits)} * power;
    value = detail::round_to_double(product, false, static_cast<int>(exponent));
  } else if (digits != 0) {
    auto numerator = detail::Uint128{static_cast<uint64_t>(digits)};
    int shift = 0;
    for (; numerator >> 127 == 0; ++shift) numerator <<= 1;
    value = detail::round_to_double(numerator / power, numerator % power != 0,
                                    static_cast<int>(exponent) - shift);
  }
  *out = negative ? -value : value;
  return true;
}

}  // namespace kernkit::schema
