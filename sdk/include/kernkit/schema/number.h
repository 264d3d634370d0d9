// SPDX-License-Identifier: Apache-2.0
// Parses numbers at compile time, for the defaults of a schema line.
#pragma once

#include "kernkit/schema/round_to_double.h"

namespace kernkit::schema {

/// Parses `size` characters as a decimal integer, with an optional '-', and sets *out. Returns
/// false for any other text (an empty text, '+' and spaces included) and for a number beyond int64;
/// *out is then unspecified. Throws nothing.
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

/// An arbitrary-precision natural number. The capacity suffices for a number of 800 digits and for
/// its division by 10^1130.
class BigNatural {
 public:
  /// Size in 32-bit words.
  constexpr int size() const { return size_; }
  constexpr bool is_zero() const { return size_ == 0; }

  /// Sets *this to *this * factor + summand.
  constexpr void multiply_add(uint32_t factor, uint32_t summand) {
    uint64_t carry = summand;
    for (int i = 0; i < size_; ++i) {
      carry += uint64_t{words_[i]} * factor;
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_[size_++] = static_cast<uint32_t>(carry);
  }
  /// Sets *this to *this * 2^(32 * words).
  constexpr void shift_left(int words) {
    for (int i = size_; i-- > 0;) words_[i + words] = words_[i];
    for (int i = 0; i < words; ++i) words_[i] = 0;
    size_ += words;
  }
  /// Sets *this to *this / divisor, rounded down. Returns true if there is a remainder.
  constexpr bool divide(uint32_t divisor) {
    uint64_t rest = 0;
    for (int i = size_; i-- > 0;) {
      rest = rest << 32 | words_[i];
      words_[i] = static_cast<uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
    return rest != 0;
  }
  /// Returns *this * 2^exponent, rounded to the nearest double. `more` states whether *this was
  /// rounded down from a larger number.
  constexpr double to_double(int exponent, bool more) const {
    const int low = size_ > 3 ? size_ - 3 : 0;  // three words have at least 65 bits
    kernkit::detail::Uint128 top = 0;
    for (int i = size_; i-- > low;) top = top << 32 | words_[i];
    for (int i = 0; i < low; ++i) more |= words_[i] != 0;
    return kernkit::detail::round_to_double(top, more, exponent + 32 * low);
  }

 private:
  static constexpr int kCapacity = 96;
  uint32_t words_[kCapacity] = {};
  int size_ = 0;
};

inline constexpr int kMostDigits = 800;
inline constexpr uint32_t kFiveTo13 = 1220703125;  // the largest power of five in 32 bits

/// Returns digits * 10^exponent. Multiplies or divides by 5^|exponent|, and adds the factor
/// 2^exponent to the exponent of the double.
constexpr double scale_by_ten(BigNatural digits, int exponent) {
  int left = exponent < 0 ? -exponent : exponent;
  int binary = exponent;
  bool more = false;
  if (exponent < 0) {
    const int words =
        left * 10 / 137 + 5 - digits.size();  // 5^13.7 < 2^32; 96 bits more for the quotient
    if (words > 0) {
      digits.shift_left(words);
      binary -= 32 * words;
    }
  }
  while (left > 0) {
    const int step = left < 13 ? left : 13;
    uint32_t power = kFiveTo13;
    for (int i = step; i < 13; ++i) power /= 5;
    if (exponent < 0) {
      more |= digits.divide(power);
    } else {
      digits.multiply_add(power, 0);
    }
    left -= step;
  }
  return digits.to_double(binary, more);
}

/// Parses the number after 'e', with an optional sign, and sets *out. Digits after the fifth
/// significant digit are ignored, so *out is in [-99999, 99999]. Returns false for an invalid
/// number.
constexpr bool parse_exponent(const char* text, int size, int* out) {
  int i = size > 1 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  int value = 0;
  if (i == size) return false;
  for (; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    if (value < 10000) value = value * 10 + (text[i] - '0');
  }
  *out = text[0] == '-' ? -value : value;
  return true;
}

constexpr bool is_word(const char* text, int size, const char (&word)[4]) {
  return size == 3 && text[0] == word[0] && text[1] == word[1] && text[2] == word[2];
}

}  // namespace detail

/// Parses `size` characters as a decimal number, such as "-12.5e-3", rounded to the nearest double
/// (ties to even), or as "inf", "-inf", "nan". An exponent is allowed, a sign '+' before the number
/// is not; a result may be subnormal or zero. Returns false for other text, for a number that
/// rounds to infinity, and for more than 800 significant digits; *out is then unspecified. Throws
/// nothing.
constexpr bool parse_float(const char* text, int size, double* out) {
  const bool negative = size > 0 && text[0] == '-';
  int i = negative ? 1 : 0;
  if (detail::is_word(text + i, size - i, "inf")) {
    *out = negative ? -__builtin_inf() : __builtin_inf();
    return true;
  }
  if (detail::is_word(text, size, "nan")) {
    *out = __builtin_nan("");
    return true;
  }
  detail::BigNatural digits;
  int count = 0;        // number of digits
  int significant = 0;  // number of digits, without leading zeros
  int exponent = 0;
  bool point = false;
  for (; i < size && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') return false;
    digits.multiply_add(10, static_cast<uint32_t>(text[i] - '0'));
    if (!digits.is_zero() && ++significant > detail::kMostDigits) return false;
    exponent -= point;
    ++count;
  }
  if (count == 0) return false;
  if (i < size) {
    int written = 0;
    if (!detail::parse_exponent(text + i + 1, size - i - 1, &written)) return false;
    exponent += written;
  }
  // The number is in [10^(magnitude - 1), 10^magnitude). A number far outside the range of double
  // is not computed.
  const int magnitude = significant + exponent;
  double value = 0;
  if (!digits.is_zero() && magnitude > -330) {
    if (magnitude > 310) return false;
    value = detail::scale_by_ten(digits, exponent);
  }
  *out = negative ? -value : value;
  return value < __builtin_inf();
}

}  // namespace kernkit::schema
