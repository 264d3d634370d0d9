// SPDX-License-Identifier: Apache-2.0
#include "ptx/semantics/convert_lane.h"

#include <cmath>
#include <cstring>

#include "kernkit/types/small_float.h"
#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
namespace {

// The exact value of a source: an integer as sign and magnitude, or a double.
struct Number {
  bool is_integer = false;
  bool negative = false;
  uint64_t magnitude = 0;
  double real = 0;
};

bool is_real(Type type) {
  return type == Type::kF16 || type == Type::kBF16 || type == Type::kF32 || type == Type::kF64;
}
bool is_integer(Type type) {
  switch (type) {
    case Type::kU8:
    case Type::kS8:
    case Type::kU16:
    case Type::kS16:
    case Type::kU32:
    case Type::kS32:
    case Type::kU64:
    case Type::kS64: return true;
    default: return false;
  }
}

Number read(Type type, uint64_t bits) {
  Number number;
  switch (type) {
    case Type::kF16: number.real = Half{static_cast<uint16_t>(bits)}.value(); return number;
    case Type::kBF16: number.real = BHalf{static_cast<uint16_t>(bits)}.value(); return number;
    case Type::kF32: number.real = bit_cast<float>(static_cast<uint32_t>(bits)); return number;
    case Type::kF64: number.real = bit_cast<double>(bits); return number;
    default: break;
  }
  const uint32_t width = 8 * size_of(type);
  bits = bits << (64 - width) >> (64 - width);
  number.is_integer = true;
  number.negative = is_signed(type) && (bits >> (width - 1) & 1) != 0;
  const uint64_t extended = number.negative ? bits | (~uint64_t{0} << (width - 1)) : bits;
  number.magnitude = number.negative ? 0 - extended : extended;
  return number;
}

double to_integral(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest: return std::nearbyint(x);
    case Rounding::kZero: return std::trunc(x);
    case Rounding::kDown: return std::floor(x);
    case Rounding::kUp: return std::ceil(x);
  }
  return x;
}

// PTX ISA, "cvt": a number out of range is clamped to the range. A NaN becomes 0; if either type
// has 64 bits, the result has only its highest bit set.
uint64_t to_integer(const Conversion& conversion, double x) {
  const uint32_t width = 8 * size_of(conversion.to);
  if (x != x) {
    const bool wide = conversion.from == Type::kF64 || width == 64;
    return wide ? uint64_t{1} << (width - 1) : 0;
  }
  x = to_integral(x, conversion.rounding);
  if (is_signed(conversion.to)) {
    const double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
    const uint64_t least = ~uint64_t{0} << (width - 1);
    return x >= limit   ? ~least
           : x < -limit ? least
                        : static_cast<uint64_t>(static_cast<int64_t>(x));
  }
  if (x <= 0) return 0;
  return x >= std::ldexp(1.0, static_cast<int>(width)) ? ~uint64_t{0} >> (64 - width)
                                                       : static_cast<uint64_t>(x);
}

// Clamps an integer to the range of the result type, for .sat.
uint64_t clamped(Type to, const Number& number) {
  const uint32_t width = 8 * size_of(to);
  const uint64_t most = ~uint64_t{0} >> (64 - width + (is_signed(to) ? 1 : 0));
  if (!number.negative) return number.magnitude > most ? most : number.magnitude;
  if (!is_signed(to)) return 0;
  return 0 - (number.magnitude > most + 1 ? most + 1 : number.magnitude);
}

// Converts an integer to a double, rounded to odd. Rounding the result again gives the same number
// as rounding the integer once.
double to_odd(const Number& number) {
  uint64_t m = number.magnitude;
  int shift = 0;
  if (m >> 53 != 0) {
    shift = 11 - __builtin_clzll(m);
    const bool inexact = (m & ((uint64_t{1} << shift) - 1)) != 0;
    m = m >> shift | (inexact ? 1 : 0);
  }
  const double x = std::ldexp(static_cast<double>(m), shift);
  return number.negative ? -x : x;
}

// Converts an integer to a double with the given rounding.
double to_double(const Number& number, Rounding rounding) {
  const uint64_t m = number.magnitude;
  double x = static_cast<double>(m);  // rounded to nearest
  if (rounding != Rounding::kNearest && m >> 53 != 0) {
    const int shift = 11 - __builtin_clzll(m);
    const bool inexact = (m & ((uint64_t{1} << shift) - 1)) != 0;
    const bool away = inexact && rounding == (number.negative ? Rounding::kDown : Rounding::kUp);
    x = std::ldexp(static_cast<double>((m >> shift) + (away ? 1 : 0)), shift);
  }
  return number.negative ? -x : x;
}

float to_float(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest: return narrow<Rounding::kNearest>(x);
    case Rounding::kZero: return narrow<Rounding::kZero>(x);
    case Rounding::kDown: return narrow<Rounding::kDown>(x);
    case Rounding::kUp: return narrow<Rounding::kUp>(x);
  }
  return 0;
}

// Rounds x to 16 bits. For a directed rounding, takes the neighbour of the nearest number if the
// nearest number is on the wrong side of x.
template <class H>
uint16_t half_bits(double x, Rounding rounding) {
  const H nearest = H::from(narrow_to_odd(x));
  const double value = nearest.value();
  if (rounding == Rounding::kNearest || x != x || std::isinf(x)) return nearest.bits;
  const bool down =
      value > x && (rounding == Rounding::kDown || (rounding == Rounding::kZero && x > 0));
  const bool up =
      value < x && (rounding == Rounding::kUp || (rounding == Rounding::kZero && x < 0));
  if (!down && !up) return nearest.bits;
  if ((nearest.bits & 0x7fffu) == 0) return down ? 0x8001 : 0x0001;
  const bool negative = (nearest.bits & 0x8000u) != 0;
  return static_cast<uint16_t>(negative == down ? nearest.bits + 1 : nearest.bits - 1);
}

double saturated(double x) { return x > 0 ? (x > 1 ? 1 : x) : 0; }

uint64_t convert(const Conversion& conversion, uint64_t bits) {
  const Type to = conversion.to;
  Number number = read(conversion.from, bits);
  if (conversion.flushes && conversion.from == Type::kF32) {
    number.real = flush(static_cast<float>(number.real));
  }
  if (is_integer(to)) {
    if (!number.is_integer) return to_integer(conversion, number.real);
    if (conversion.saturates) return clamped(to, number);
    return number.negative ? 0 - number.magnitude : number.magnitude;
  }
  double x = number.is_integer ? to_odd(number) : number.real;
  if (conversion.to_integral) x = to_integral(x, conversion.rounding);
  if (conversion.saturates) x = saturated(x);
  if (to == Type::kF16) return half_bits<Half>(x, conversion.rounding);
  if (to == Type::kBF16) return half_bits<BHalf>(x, conversion.rounding);
  if (to == Type::kF32) {
    const float y = canonical(to_float(x, conversion.rounding));
    return bit_cast<uint32_t>(conversion.flushes ? flush(y) : y);
  }
  if (number.is_integer && !conversion.saturates) x = to_double(number, conversion.rounding);
  return bit_cast<uint64_t>(canonical(x));
}

uint64_t lane_bits(Warp& warp, uint32_t at, uint32_t size, int lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, warp.registers + at + static_cast<size_t>(lane) * size, size);
  return bits;
}

// Replaces a number <= 0 by +0 if `relu` is set, and clamps the result to [-most, most].
float limited(float x, bool relu, float most) {
  if (x != x) return x;
  if (relu && !(x > 0)) return 0;
  return x > most ? most : x < -most ? -most : x;
}

template <class H>
float largest_half() {
  return std::is_same_v<H, Half> ? 65504.0f : bit_cast<float>(0x7f7f0000u);
}
template <class H>
uint32_t narrow_half(float x, uint8_t mode) {
  const float most =
      (mode & kFinite) != 0 ? largest_half<H>() : std::numeric_limits<float>::infinity();
  const float y = limited(x, (mode & kRelu) != 0, most);
  return half_bits<H>(y, (mode & kToZero) != 0 ? Rounding::kZero : Rounding::kNearest);
}
template <class H>
void narrow_one(Warp& warp, const Operation& operation) {
  const float* a = warp.lanes<float>(operation.src0);
  auto* d = warp.results<uint16_t>(operation.dst);
  for (int l = 0; l < 32; ++l) d[l] = static_cast<uint16_t>(narrow_half<H>(a[l], operation.mode));
  warp.keep<uint16_t>(operation.dst);
}
template <class H>
void narrow_halves(Warp& warp, const Operation& operation) {
  const float *a = warp.lanes<float>(operation.src0), *b = warp.lanes<float>(operation.src1);
  auto* d = warp.results<uint32_t>(operation.dst);
  for (int l = 0; l < 32; ++l) {
    d[l] = narrow_half<H>(a[l], operation.mode) << 16 | narrow_half<H>(b[l], operation.mode);
  }
  warp.keep<uint32_t>(operation.dst);
}

// Converts to an 8-bit format. All forms clamp to the finite numbers of the format.
template <class Small>
uint32_t narrow_small(float x, uint8_t mode) {
  Small largest;
  largest.bits = static_cast<uint8_t>(Small::kMax);
  const float y = limited(x, (mode & kRelu) != 0, static_cast<float>(largest));
  return static_cast<uint32_t>(y != y ? 0x7f : Small(y).bits);
}
template <class Small>
void narrow_two(Warp& warp, const Operation& operation) {
  const float *a = warp.lanes<float>(operation.src0), *b = warp.lanes<float>(operation.src1);
  auto* d = warp.results<uint16_t>(operation.dst);
  const auto narrowed = [&](float x) { return narrow_small<Small>(x, operation.mode); };
  each_lane([&](int l) { d[l] = static_cast<uint16_t>(narrowed(a[l]) << 8 | narrowed(b[l])); });
  warp.keep<uint16_t>(operation.dst);
}
template <class Small>
void narrow_pair(Warp& warp, const Operation& operation) {
  const auto* a = warp.lanes<uint32_t>(operation.src0);
  auto* d = warp.results<uint16_t>(operation.dst);
  const auto narrowed = [&](uint32_t bits) {
    return narrow_small<Small>(Half{static_cast<uint16_t>(bits)}.value(), operation.mode);
  };
  each_lane(
      [&](int l) { d[l] = static_cast<uint16_t>(narrowed(a[l] >> 16) << 8 | narrowed(a[l])); });
  warp.keep<uint16_t>(operation.dst);
}
template <class Small>
void widen_two(Warp& warp, const Operation& operation) {
  const auto* a = warp.lanes<uint16_t>(operation.src0);
  auto* d = warp.results<uint32_t>(operation.dst);
  const auto widened = [&](uint32_t bits) {
    Small small;
    small.bits = static_cast<uint8_t>(bits);
    const float x = limited(static_cast<float>(small), (operation.mode & kRelu) != 0,
                            std::numeric_limits<float>::infinity());
    return uint32_t{Half::from(x).bits};
  };
  each_lane([&](int l) { d[l] = widened(a[l] >> 8) << 16 | widened(a[l] & 255u); });
  warp.keep<uint32_t>(operation.dst);
}

}  // namespace

bool is_known(const Conversion& c) {
  const bool numbers =
      (is_integer(c.to) || is_real(c.to)) && (is_integer(c.from) || is_real(c.from));
  if (!numbers) return false;
  const bool nearest = c.rounding == Rounding::kNearest;
  if (is_integer(c.to)) return is_integer(c.from) ? nearest && !c.to_integral : c.to_integral;
  if (c.to_integral) return c.to == c.from;
  return nearest || c.to != Type::kF64 || c.from != Type::kF64;
}

int64_t pack(const Conversion& c) {
  return static_cast<int64_t>(c.to) | static_cast<int64_t>(c.from) << 8 |
         static_cast<int64_t>(c.rounding) << 16 | int64_t{c.to_integral} << 20 |
         int64_t{c.saturates} << 21 | int64_t{c.flushes} << 22 | int64_t{c.to_size} << 24 |
         int64_t{c.from_size} << 32;
}

void convert_lanes(Warp& warp, const Operation& operation) {
  const int64_t packed = operation.offset;
  Conversion c;
  c.to = static_cast<Type>(packed & 255);
  c.from = static_cast<Type>(packed >> 8 & 255);
  c.rounding = static_cast<Rounding>(packed >> 16 & 15);
  c.to_integral = (packed >> 20 & 1) != 0;
  c.saturates = (packed >> 21 & 1) != 0;
  c.flushes = (packed >> 22 & 1) != 0;
  c.to_size = packed >> 24 & 15;
  c.from_size = packed >> 32 & 15;
  for (int l = 0; l < 32; ++l) {
    if ((warp.mask & kLane[l]) == 0) continue;
    // The result is zero-extended or sign-extended to the width of its register.
    const uint64_t result = convert(c, lane_bits(warp, operation.src0, c.from_size, l));
    uint64_t bits = result;
    const uint32_t width = 8 * size_of(c.to);
    if (width < 64) {
      bits = result << (64 - width);
      bits = is_signed(c.to) ? static_cast<uint64_t>(static_cast<int64_t>(bits) >> (64 - width))
                             : bits >> (64 - width);
    }
    std::memcpy(warp.registers + operation.dst + static_cast<size_t>(l) * c.to_size, &bits,
                c.to_size);
  }
}

void narrow_to_f16(Warp& warp, const Operation& operation) { narrow_one<Half>(warp, operation); }
void narrow_to_bf16(Warp& warp, const Operation& operation) { narrow_one<BHalf>(warp, operation); }
void narrow_to_f16x2(Warp& warp, const Operation& operation) {
  narrow_halves<Half>(warp, operation);
}
void narrow_to_bf16x2(Warp& warp, const Operation& operation) {
  narrow_halves<BHalf>(warp, operation);
}

void narrow_pair_to_e4m3x2(Warp& warp, const Operation& operation) {
  narrow_pair<float8_e4m3fn>(warp, operation);
}
void narrow_pair_to_e5m2x2(Warp& warp, const Operation& operation) {
  narrow_pair<float8_e5m2>(warp, operation);
}
void narrow_to_e4m3x2(Warp& warp, const Operation& operation) {
  narrow_two<float8_e4m3fn>(warp, operation);
}
void narrow_to_e5m2x2(Warp& warp, const Operation& operation) {
  narrow_two<float8_e5m2>(warp, operation);
}
void widen_e4m3x2(Warp& warp, const Operation& operation) {
  widen_two<float8_e4m3fn>(warp, operation);
}
void widen_e5m2x2(Warp& warp, const Operation& operation) {
  widen_two<float8_e5m2>(warp, operation);
}

}  // namespace kernkit::simulator::ptx
