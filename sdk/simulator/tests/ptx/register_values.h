// SPDX-License-Identifier: Apache-2.0
// The numbers that the bits of a register represent, and the bits of numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "float_formats.h"

namespace kernkit::simulator {

inline double f16(uint64_t bits) { return decoded(bits & 0xffff, 5, 10); }
inline double bf16(uint64_t bits) { return decoded(bits & 0xffff, 8, 7); }
inline float f32(uint64_t bits) {
  const auto narrow = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &narrow, sizeof(value));
  return value;
}
inline double f64(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
/// Returns the bits of x, including the payload of a NaN: PTX ISA does not specify the bits of a
/// NaN, and the simulator's conversion keeps the payload.
inline uint64_t raw_bits(double x) {
  uint64_t all;
  std::memcpy(&all, &x, sizeof(x));
  return all;
}
/// Returns the bits of x, or of the NaN that instructions return.
inline uint64_t bits(float x) {
  uint32_t all;
  std::memcpy(&all, &x, sizeof(x));
  return x != x ? 0x7fffffff : all;
}
inline uint64_t bits(double x) { return x != x ? 0x7ff8000000000000 : raw_bits(x); }
/// Returns x, or 0 with the sign of x for a subnormal number, as .ftz does.
inline float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

}  // namespace kernkit::simulator
