// SPDX-License-Identifier: Apache-2.0
// The numbers that the bits of a register represent, and the bits of numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "float_formats.h"

namespace kernkit::simulator {

/// Returns the value of type To that has the bytes of `from`.
template <class To, class From>
To as(From from) {
  static_assert(sizeof(To) == sizeof(From), "the types have one size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
inline double f16(uint64_t bits) { return decoded(bits & 0xffff, 5, 10); }
inline double bf16(uint64_t bits) { return decoded(bits & 0xffff, 8, 7); }
inline float f32(uint64_t bits) { return as<float>(static_cast<uint32_t>(bits)); }
inline double f64(uint64_t bits) { return as<double>(bits); }
/// Returns the bits of x, including the payload of a NaN: PTX ISA does not specify the bits of a
/// NaN, and the simulator's conversion keeps the payload.
inline uint64_t raw_bits(double x) { return as<uint64_t>(x); }
/// Returns the bits of x; for a NaN, the bits of the canonical NaN that instructions return.
inline uint64_t bits(float x) { return x != x ? 0x7fffffff : as<uint32_t>(x); }
inline uint64_t bits(double x) { return x != x ? 0x7ff8000000000000 : raw_bits(x); }
/// Returns x, or 0 with the sign of x for a subnormal number, as .ftz does.
inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

}  // namespace kernkit::simulator
