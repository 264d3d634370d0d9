// SPDX-License-Identifier: Apache-2.0
// Conversions from and to floats with any number of exponent and mantissa bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace kernkit::simulator {

// Returns the value of the float with the bits x in a format with the given numbers of exponent and
// mantissa bits. Follows the definition of the format.
inline double decoded_by_definition(uint64_t x, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(x >> mantissa_bits) & top;
  const double mantissa = static_cast<double>(x & ((uint64_t{1} << mantissa_bits) - 1));
  const double unit = std::ldexp(1.0, mantissa_bits);
  double value = exponent == 0 ? std::ldexp(mantissa / unit, 1 - bias)
                               : std::ldexp(1 + mantissa / unit, exponent - bias);
  if (exponent == top)
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  return (x >> (exponent_bits + mantissa_bits) & 1) != 0 ? -value : value;
}
inline std::vector<double> all_decoded(int exponent_bits, int mantissa_bits) {
  std::vector<double> values(65536);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = decoded_by_definition(i, exponent_bits, mantissa_bits);
  }
  return values;
}
inline const std::vector<double> kHalves = all_decoded(5, 10), kBfloats = all_decoded(8, 7);
// Returns the value of decoded_by_definition(). Values of 16-bit formats come from a table, because
// tests decode 2^32 pairs.
[[gnu::always_inline]] inline double decoded(uint64_t x, int exponent_bits, int mantissa_bits) {
  if (exponent_bits + mantissa_bits != 15) {
    return decoded_by_definition(x, exponent_bits, mantissa_bits);
  }
  return (exponent_bits == 5 ? kHalves : kBfloats)[x & 0xffff];
}
// Returns the bits of the float that is nearest to x, ties to even. Follows the definition of the
// format.
inline uint64_t encoded_by_definition(long double x, int exponent_bits, int mantissa_bits) {
  if (x != x) return (uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t sign = std::signbit(x) ? uint64_t{1} << (exponent_bits + mantissa_bits) : 0;
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  const long double magnitude = std::fabs(x);
  if (magnitude > std::numeric_limits<double>::max()) return sign | infinity;
  int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  const auto steps =
      static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  const uint64_t result = (static_cast<uint64_t>(exponent + bias - 1) << mantissa_bits) + steps;
  return sign | std::min(result, infinity);
}
inline uint64_t encoded(long double x, int exponent_bits, int mantissa_bits) {
  return encoded_by_definition(x, exponent_bits, mantissa_bits);
}
// Returns the value of encoded_by_definition() for a double, computed from the double's bits. A
// double holds the product of two 16-bit numbers. A sum may be rounded twice, but the result is the
// same, because a double has at least two bits more than twice the bits of a 16-bit number.
[[gnu::always_inline]] inline uint64_t encoded(double x, int exponent_bits, int mantissa_bits) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(x));
  const int bias = (1 << (exponent_bits - 1)) - 1, top = static_cast<int>(bits >> 52 & 2047);
  const uint64_t sign = bits >> 63 << (exponent_bits + mantissa_bits);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (top == 2047 && fraction != 0) return (uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;
  const int exponent = std::max(top - 1023, 1 - bias);
  const int dropped = std::min(52 - mantissa_bits + exponent - (top - 1023), 63);  // dropped bits
  const uint64_t mantissa = fraction | (top != 0 ? uint64_t{1} << 52 : 0);
  const uint64_t half = uint64_t{1} << (dropped - 1), dropped_bits = mantissa & (2 * half - 1);
  const uint64_t odd = mantissa >> dropped & 1;
  const uint64_t steps = (mantissa >> dropped) + (dropped_bits + odd > half ? 1 : 0);
  const uint64_t result = (static_cast<uint64_t>(exponent + bias - 1) << mantissa_bits) + steps;
  return sign | std::min(result, infinity);
}
}  // namespace kernkit::simulator
