// SPDX-License-Identifier: Apache-2.0
// Floating point as in PTX ISA, "Floating-Point Instructions": canonical NaNs, flushed subnormal
// numbers, and roundings that the processor does not support.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernkit/float.h"
#include "ptx/machine/simd_target.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {

using kernkit::detail::bit_cast;

inline float canonical(float x) { return x != x ? bit_cast<float>(0x7fffffffu) : x; }
// Replaces a NaN by the quiet NaN. The PTX ISA does not specify the bits of a double-precision NaN.
inline double canonical(double x) { return x != x ? std::numeric_limits<double>::quiet_NaN() : x; }

/// .ftz: a subnormal number becomes a zero of the same sign.
inline float flush(float x) {
  const auto bits = bit_cast<uint32_t>(x);
  return bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
inline double flush(double x) { return x; }

/// Returns x + y, rounded to odd: an inexact sum becomes the neighbour whose last bit is set.
/// Rounding the result to at most 51 bits gives the same number as rounding the exact sum once.
inline double sum_to_odd(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  auto bits = bit_cast<uint64_t>(sum);
  const bool inexact =
      (error > 0 || error < 0) && std::fabs(sum) <= std::numeric_limits<double>::max();
  if (inexact && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1 : uint64_t{0} - 1;
  return bit_cast<double>(bits);
}
/// Returns x, rounded to odd to 24 bits. Rounding the result to at most 22 bits gives the same
/// number as rounding x once.
inline float narrow_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  auto bits = bit_cast<uint32_t>(nearest);
  const double back = nearest;
  if (back != x && x == x && (bits & 1) == 0) bits += (std::fabs(x) > std::fabs(back)) ? 1 : 0u - 1;
  return bit_cast<float>(bits);
}

/// Return the minimum and the maximum. If one argument is a NaN, the result is the other argument;
/// -0 is less than +0.
template <class X>
X less_of(X a, X b) {
  const X less = a < b || (a == b && std::signbit(a)) ? a : b;
  return canonical(a != a ? b : b != b ? a : less);
}
template <class X>
X more_of(X a, X b) {
  const X more = a > b || (a == b && !std::signbit(a)) ? a : b;
  return canonical(a != a ? b : b != b ? a : more);
}

enum class Rounding { kNearest, kZero, kDown, kUp };

/// Rounds x to float. x can be the result of a rounding to odd.
template <Rounding kHow>
inline float narrow(double x) {
  const auto nearest = static_cast<float>(x);
  if (kHow == Rounding::kNearest || !(std::fabs(x) <= std::numeric_limits<double>::max()))
    return nearest;
  const double back = nearest;
  const bool too_high = back > x, too_low = back < x;
  const float down = std::nextafterf(nearest, -std::numeric_limits<float>::infinity());
  const float up = std::nextafterf(nearest, std::numeric_limits<float>::infinity());
  if (kHow == Rounding::kDown) return too_high ? down : nearest;
  if (kHow == Rounding::kUp) return too_low ? up : nearest;
  return x > 0 ? (too_high ? down : nearest) : (too_low ? up : nearest);
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
