// SPDX-License-Identifier: Apache-2.0
// round_to_double(): rounds an integer of any size to the nearest double.
#pragma once

#include <stdint.h>

namespace kernkit::detail {

__extension__ typedef unsigned __int128 Uint128;

/// Returns value * 2^exponent, rounded to nearest, ties to even; the result may be subnormal or
/// infinite. `more` states whether nonzero bits below the lowest bit of `value` were cut off; if
/// `more` is true, `value` must have at least 65 bits.
constexpr double round_to_double(Uint128 value, bool more, int exponent) {
  constexpr int kLowest = -1074;  // exponent of the lowest bit of subnormal numbers
  if (value == 0) return 0;
  int bits = 0;
  while (bits < 128 && value >> bits != 0) ++bits;
  int surplus = bits - 53;  // number of bits beyond the 53 bits of a double
  if (exponent + surplus < kLowest) surplus = kLowest - exponent;
  if (surplus > bits) return 0;  // below half of the smallest positive double: 0
  uint64_t mantissa = 0;
  if (surplus <= 0) {
    mantissa = static_cast<uint64_t>(value) << -surplus;
  } else {
    const Uint128 half = Uint128{1} << (surplus - 1);
    if (surplus < 128) mantissa = static_cast<uint64_t>(value >> surplus);
    const Uint128 cut = value & (half - 1 + half);
    if (cut > half || (cut == half && (more || mantissa % 2 != 0))) ++mantissa;
  }
  // If rounding carries the mantissa into the next power of two, the addition below increments the
  // exponent.
  const int biased = exponent + surplus - kLowest;
  if (biased > 2045) return __builtin_inf();
  return __builtin_bit_cast(double, (static_cast<uint64_t>(biased) << 52) + mantissa);
}

}  // namespace kernkit::detail
