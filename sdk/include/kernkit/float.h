// SPDX-License-Identifier: Apache-2.0
// Storage types for 16-bit floats, usable on host and device without a CUDA header.
//
// The types store and convert values; arithmetic uses float32 and rounds once, to nearest even.
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernkit/types/dtype.h"

#if defined(__CUDACC__)
#define KERNKIT_HOST_DEVICE __host__ __device__
#else
/// Makes a function available on the host and, in a file compiled for CUDA, on the device.
#define KERNKIT_HOST_DEVICE
#endif

namespace kernkit {

namespace detail {

template <class To, class From>
KERNKIT_HOST_DEVICE inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast requires two types of the same size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

// Returns condition ? yes : no. Computed with a mask, because a compiler may generate a branch for
// the operator.
KERNKIT_HOST_DEVICE inline uint32_t select(bool condition, uint32_t yes, uint32_t no) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

// Uses integer masks and exact float operations only, so that the result has the same bits on every
// instruction set, also under flush-to-zero, and the code has no branches.
KERNKIT_HOST_DEVICE inline float float16_to_float(uint16_t half) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(half));
  return result;
#else
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t abs_bits = half & 0x7fffu;
  const uint32_t normal = (abs_bits << 13) + (abs_bits >= 0x7c00u ? 0x70000000u : 0x38000000u);
  const float tiny = static_cast<float>(static_cast<int32_t>(abs_bits)) * 0x1p-24f;  // subnormal
  return bit_cast<float>(sign | select(abs_bits < 0x0400u, bit_cast<uint32_t>(tiny), normal));
#endif
}

KERNKIT_HOST_DEVICE inline uint16_t float_to_float16(float value) {
#if defined(__CUDA_ARCH__)
  uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
#else
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t abs_bits = bits & 0x7fffffffu;
  // Adding 0.5 rounds the value to a multiple of 2^-24, the smallest step of float16.
  const uint32_t tiny = bit_cast<uint32_t>(bit_cast<float>(abs_bits) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (abs_bits - 0x38000000u + 0xfffu + ((abs_bits >> 13) & 1u)) >> 13;
  const uint32_t nan = 0x7e00u | ((abs_bits >> 13) & 0x3ffu);
  uint32_t magnitude = select(abs_bits < 0x38800000u, tiny, normal);
  magnitude = select(abs_bits >= 0x47800000u, 0x7c00u, magnitude);
  magnitude = select(abs_bits > 0x7f800000u, nan, magnitude);
  return static_cast<uint16_t>(sign | magnitude);
#endif
}

KERNKIT_HOST_DEVICE inline float bfloat16_to_float(uint16_t bits) {
  return bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Returns the rounded bfloat16 in the upper 16 bits; the lower 16 bits are unspecified.
KERNKIT_HOST_DEVICE inline uint32_t round_to_bfloat16(float value) {
  const uint32_t bits = bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return value != value ? bits | 0x00400000u : rounded;
}

KERNKIT_HOST_DEVICE inline uint16_t float_to_bfloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
#else
  return static_cast<uint16_t>(round_to_bfloat16(value) >> 16);
#endif
}

}  // namespace detail

/// IEEE 754 binary16. Conversions throw nothing, and do not flush subnormal numbers.
struct float16 {
  /// The binary16 code: sign, 5 exponent bits, 10 mantissa bits.
  uint16_t bits;

  /// An uninitialised value.
  float16() = default;
  /// Rounds to nearest, ties to even, subnormal results included. Magnitudes of at least 65520,
  /// which round to a number above 65504, become infinity; zeros and infinities keep their sign,
  /// NaN stays NaN.
  KERNKIT_HOST_DEVICE explicit float16(float value) : bits(detail::float_to_float16(value)) {}
  /// The exact value, subnormal numbers included; infinities and zeros keep their sign, NaN stays
  /// NaN.
  KERNKIT_HOST_DEVICE explicit operator float() const { return detail::float16_to_float(bits); }
};

/// The upper half of a float32: sign, 8 exponent bits, 7 mantissa bits. Conversions throw nothing,
/// and do not flush subnormal numbers.
struct bfloat16 {
  /// The bfloat16 code, which is the upper 16 bits of the float32.
  uint16_t bits;

  /// An uninitialised value.
  bfloat16() = default;
  /// Rounds to nearest, ties to even, subnormal results included. Magnitudes of at least (2 - 2^-8)
  /// * 2^127 become infinity; zeros and infinities keep their sign, NaN stays NaN.
  KERNKIT_HOST_DEVICE explicit bfloat16(float value) : bits(detail::float_to_bfloat16(value)) {}
  /// The exact value, infinities and NaN included; the lower 16 bits of the float are 0.
  KERNKIT_HOST_DEVICE explicit operator float() const { return detail::bfloat16_to_float(bits); }
};

template <>
struct DTypeOf<float16> {
  static constexpr DLDataType value = dl_float16;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DLDataType value = dl_bfloat16;
};

/// The type float under the name of its dtype, for type lists: messages name the dtype float32.
using float32 = float;
/// The type double under the name of its dtype, for type lists: messages name the dtype float64.
using float64 = double;

/// The type for arithmetic on values of type T: float for floating-point types of at most 16 bits,
/// otherwise T.
template <class T>
struct ComputeType {
  using type = T;  ///< result of the trait
};
template <>
struct ComputeType<float16> {
  using type = float;
};
template <>
struct ComputeType<bfloat16> {
  using type = float;
};
/// ComputeType<T>::type: `compute_t<float16>` is float, `compute_t<double>` is double.
template <class T>
using compute_t = typename ComputeType<T>::type;

}  // namespace kernkit
