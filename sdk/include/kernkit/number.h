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

/// A decimal number "-12.5e-3", or "inf". At most 18 digits and a power of ten within 27, so that
/// one long double operation is exact enough to round to the nearest double.
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
    if (i < size && text[i] == '+') ++i;
    int64_t written = 0;
    if (!parse_int(text + i, size - i, &written) || written > 99 || written < -99) return false;
    exponent += written;
  }
  if (exponent < -27 || exponent > 27) return false;
  long double power = 1;
  for (int64_t k = exponent < 0 ? -exponent : exponent; k > 0; --k) power *= 10;
  const auto exact = static_cast<long double>(digits);
  const auto value = static_cast<double>(exponent < 0 ? exact / power : exact * power);
  *out = negative ? -value : value;
  return true;
}

}  // namespace kernkit::schema
