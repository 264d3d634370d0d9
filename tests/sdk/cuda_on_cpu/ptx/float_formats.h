// SPDX-License-Identifier: Apache-2.0
// Floats of any format, by their definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kernkit::cuda_on_cpu {

// A float of E exponent and M mantissa bits, by its definition.
inline double decoded(uint64_t x, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(x >> mantissa_bits) & top;
  const double mantissa = static_cast<double>(x & ((uint64_t{1} << mantissa_bits) - 1));
  const double one = std::ldexp(1.0, mantissa_bits);
  double value = exponent == 0 ? std::ldexp(mantissa / one, 1 - bias)
                               : std::ldexp(1 + mantissa / one, exponent - bias);
  if (exponent == top)
    value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  return (x >> (exponent_bits + mantissa_bits) & 1) != 0 ? -value : value;
}
// To nearest, ties to even, from a number that long double holds.
inline uint64_t encoded(long double x, int exponent_bits, int mantissa_bits) {
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
}  // namespace kernkit::cuda_on_cpu
