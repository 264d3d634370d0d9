// SPDX-License-Identifier: Apache-2.0
// Storage types for floats of 8 bits and fewer, usable on host and device without a CUDA header.
//
// Formats, names and the results of every conversion are the same as in ml_dtypes; float8 and the
// OCP MX types are specified in the OCP 8-bit and Microscaling documents.
#pragma once

#include "kernkit/float.h"

namespace kernkit {

/// The special values of a format, and the result of an overflow in a conversion.
enum class Specials : uint8_t {
  kIeee,    ///< infinities and NaNs; overflow becomes infinity
  kNan,     ///< NaN as the largest magnitude, no infinity (fn); overflow becomes NaN
  kFnuz,    ///< NaN in place of -0, no infinity (fnuz); overflow becomes NaN
  kFinite,  ///< no special values; overflow saturates to the largest value, NaN becomes zero
};

/// A floating-point number with a sign bit, E exponent bits and M mantissa bits, in the low bits of
/// a byte. Conversion from float rounds once, to nearest, ties to even. Conversions throw nothing,
/// and have the same results as in ml_dtypes.
template <DTypeCode Code, int E, int M, int Bias, Specials S>
struct SmallFloat {
  uint8_t bits;  ///< the code: sign, exponent and mantissa in the low 1 + E + M bits

  static constexpr uint32_t kSign = 1u << (E + M);  ///< the sign bit
  static constexpr uint32_t kTop = kSign - 1;       ///< the code of the largest magnitude
  /// Code of the positive NaN. Unused for kFinite, which has no NaN.
  static constexpr uint32_t kNan = S == Specials::kIeee  ? kTop ^ ((1u << (M - 1)) - 1)
                                   : S == Specials::kNan ? kTop
                                                         : kSign;
  static constexpr uint32_t kInfinity = kTop ^ ((1u << M) - 1);  ///< for kIeee
  /// Code of the largest finite value.
  static constexpr uint32_t kMax = S == Specials::kIeee  ? kInfinity - 1
                                   : S == Specials::kNan ? kTop - 1
                                                         : kTop;

  /// An uninitialised value.
  SmallFloat() = default;
  /// Rounds to the nearest value, ties to even, subnormal results included. `Specials` determines
  /// the results of an overflow and of NaN; infinity counts as an overflow. Zero keeps its sign,
  /// except in the fnuz formats, which have no negative zero.
  KERNKIT_HOST_DEVICE explicit SmallFloat(float value)
      : bits(static_cast<uint8_t>(encode(detail::bit_cast<uint32_t>(value)))) {}
  /// The exact value, subnormal numbers included; infinity and zero keep their sign, every NaN
  /// becomes a quiet NaN. Bits of `bits` above the low 1 + E + M bits are ignored.
  KERNKIT_HOST_DEVICE explicit operator float() const {
    return detail::bit_cast<float>(decode(bits));
  }

 private:
  static constexpr uint32_t kOverflow = S == Specials::kIeee     ? kInfinity
                                        : S == Specials::kFinite ? kMax
                                                                 : kNan;

  KERNKIT_HOST_DEVICE static uint32_t encode(uint32_t value) {
    const uint32_t sign = (value >> 31) << (E + M);
    const uint32_t abs_bits = value & 0x7fffffffu;
    if (abs_bits > 0x7f800000u) {
      if (S == Specials::kFinite) return sign ^ kSign;  // NaN becomes a zero, as in ml_dtypes
      return S == Specials::kFnuz ? kNan : sign | kNan;
    }
    uint32_t code;
    if (abs_bits < static_cast<uint32_t>(128 - Bias) << 23) {  // below the smallest normal number
      // Adding 2^(23 + the exponent of the smallest step) rounds to a multiple of that step.
      constexpr uint32_t kMagic = static_cast<uint32_t>(127 + 24 - Bias - M) << 23;
      const float sum = detail::bit_cast<float>(abs_bits) + detail::bit_cast<float>(kMagic);
      code = detail::bit_cast<uint32_t>(sum) - kMagic;
    } else {
      const uint32_t half = (1u << (22 - M)) - 1 + ((abs_bits >> (23 - M)) & 1u);
      code = ((abs_bits + half) >> (23 - M)) - (static_cast<uint32_t>(127 - Bias) << M);
    }
    if (code > kMax) code = kOverflow;
    if (S == Specials::kFnuz && (code == 0 || code == kNan)) return code;
    return sign | code;
  }

  KERNKIT_HOST_DEVICE static uint32_t decode(uint32_t code) {
    const uint32_t sign = (code & kSign) << (31 - E - M);
    const uint32_t abs_bits = code & kTop;
    if (S == Specials::kFnuz && (code & (kSign | kTop)) == kNan) return 0x7fc00000u | sign;
    if (S == Specials::kIeee && abs_bits >= kInfinity) {
      return sign | 0x7f800000u | (abs_bits > kInfinity ? 0x00400000u : 0u);
    }
    if (S == Specials::kNan && abs_bits == kNan) return sign | 0x7fc00000u;
    if (abs_bits < (1u << M)) {  // magnitude is subnormal or zero
      constexpr uint32_t kStep = static_cast<uint32_t>(127 + 1 - Bias - M) << 23;
      const float value = static_cast<float>(abs_bits) * detail::bit_cast<float>(kStep);
      return sign | detail::bit_cast<uint32_t>(value);
    }
    return sign | ((abs_bits << (23 - M)) + (static_cast<uint32_t>(127 - Bias) << 23));
  }
};

/// IEEE-style E3M4 with infinities. The largest finite value is 15.5.
using float8_e3m4 = SmallFloat<DTypeCode::kFloat8E3M4, 3, 4, 3, Specials::kIeee>;
/// IEEE-style E4M3 with infinities. The largest finite value is 240.
using float8_e4m3 = SmallFloat<DTypeCode::kFloat8E4M3, 4, 3, 7, Specials::kIeee>;
/// E4M3 with bias 11, without infinity and negative zero. The largest value is 30.
using float8_e4m3b11fnuz = SmallFloat<DTypeCode::kFloat8E4M3B11FNUZ, 4, 3, 11, Specials::kFnuz>;
/// OCP E4M3, without infinity, which is torch.float8_e4m3fn. The largest value is 448.
using float8_e4m3fn = SmallFloat<DTypeCode::kFloat8E4M3FN, 4, 3, 7, Specials::kNan>;
/// E4M3 with bias 8, without infinity and negative zero. The largest value is 240.
using float8_e4m3fnuz = SmallFloat<DTypeCode::kFloat8E4M3FNUZ, 4, 3, 8, Specials::kFnuz>;
/// OCP E5M2, with infinities, which is torch.float8_e5m2. The largest finite value is 57344.
using float8_e5m2 = SmallFloat<DTypeCode::kFloat8E5M2, 5, 2, 15, Specials::kIeee>;
/// E5M2 with bias 16, without infinity and negative zero. The largest value is 57344.
using float8_e5m2fnuz = SmallFloat<DTypeCode::kFloat8E5M2FNUZ, 5, 2, 16, Specials::kFnuz>;
/// OCP MX E2M3. The largest value is 7.5. Holds one element in the low bits of a byte, whereas a
/// DLPack tensor packs elements of less than a byte, unless its flag IS_SUBBYTE_TYPE_PADDED is set.
using float6_e2m3fn = SmallFloat<DTypeCode::kFloat6E2M3FN, 2, 3, 1, Specials::kFinite>;
/// OCP MX E3M2. The largest value is 28. Holds one element in the low bits of a byte.
using float6_e3m2fn = SmallFloat<DTypeCode::kFloat6E3M2FN, 3, 2, 3, Specials::kFinite>;
/// OCP MX E2M1. The largest value is 6. Holds one element in the low bits of a byte.
using float4_e2m1fn = SmallFloat<DTypeCode::kFloat4E2M1FN, 2, 1, 1, Specials::kFinite>;

template <DTypeCode Code, int E, int M, int Bias, Specials S>
struct DTypeOf<SmallFloat<Code, E, M, Bias, S>> {
  static constexpr DLDataType value = make_dtype(Code, 1 + E + M);
};
template <DTypeCode Code, int E, int M, int Bias, Specials S>
struct ComputeType<SmallFloat<Code, E, M, Bias, S>> {
  using type = float;
};

/// Two float4_e2m1fn in a byte, the first in the low half. The dtype is float4_e2m1fnx2. Members
/// throw nothing.
struct float4_e2m1fn_x2 {
  uint8_t bits;  ///< two codes: the first element in bits 0 to 3, the second in bits 4 to 7

  /// An uninitialised pair.
  float4_e2m1fn_x2() = default;
  /// Packs two elements: `low`, the first, into bits 0 to 3, and `high` into bits 4 to 7.
  KERNKIT_HOST_DEVICE float4_e2m1fn_x2(float4_e2m1fn low, float4_e2m1fn high)
      : bits(static_cast<uint8_t>(low.bits | (high.bits << 4))) {}
  /// The first element, from bits 0 to 3.
  KERNKIT_HOST_DEVICE float4_e2m1fn low() const { return from_bits(bits & 0xfu); }
  /// The second element, from bits 4 to 7.
  KERNKIT_HOST_DEVICE float4_e2m1fn high() const { return from_bits(bits >> 4); }

 private:
  KERNKIT_HOST_DEVICE static float4_e2m1fn from_bits(unsigned code) {
    float4_e2m1fn result;
    result.bits = static_cast<uint8_t>(code);
    return result;
  }
};
template <>
struct DTypeOf<float4_e2m1fn_x2> {
  static constexpr DLDataType value = make_dtype(DTypeCode::kFloat4E2M1FN, 4, 2);
};

/// A power of two, 2^(bits - 127), without sign or zero, as the MX formats use for scales.
/// Conversion from float rounds to nearest, ties up, except between 2^-127 and 2^-126, where it
/// rounds up; a value that is not positive and finite, or is at least 1.5 * 2^127, becomes NaN, as
/// in ml_dtypes. Members throw nothing.
struct float8_e8m0fnu {
  uint8_t bits;  ///< the exponent with bias 127; 255 is NaN

  /// An uninitialised value.
  float8_e8m0fnu() = default;
  /// Rounds to the nearest power of two, ties up, as in ml_dtypes, with two exceptions: positive
  /// values up to 2^-127 become 2^-127, values between 2^-127 and 2^-126 become 2^-126. The result
  /// is NaN for zero, negative numbers, values of at least 1.5 * 2^127, infinity and NaN.
  KERNKIT_HOST_DEVICE explicit float8_e8m0fnu(float value)
      : bits(static_cast<uint8_t>(encode(detail::bit_cast<uint32_t>(value)))) {}
  /// The power of two, which float holds exactly (2^-127 as a subnormal number), or NaN for the
  /// code 255.
  KERNKIT_HOST_DEVICE explicit operator float() const {
    const uint32_t value = bits == 0xff ? 0x7fc00000u : bits == 0 ? 0x00400000u : bits << 23;
    return detail::bit_cast<float>(value);
  }

 private:
  KERNKIT_HOST_DEVICE static uint32_t encode(uint32_t value) {
    if (value == 0 || value >= 0x7f800000u) return 0xff;  // zero, infinity, NaN, negative values
    // As in ml_dtypes, a value above 2^-127 and below 2^-126 (subnormal in float) is rounded up.
    return (value + 0x00400000u - (value < 0x00800000u)) >> 23;
  }
};
template <>
struct DTypeOf<float8_e8m0fnu> {
  static constexpr DLDataType value = make_dtype(DTypeCode::kFloat8E8M0FNU, 8);
};
template <>
struct ComputeType<float8_e8m0fnu> {
  using type = float;
};

}  // namespace kernkit
