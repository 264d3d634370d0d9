// SPDX-License-Identifier: Apache-2.0
#include "kernkit/float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernkit/testing/reference.h"

namespace kernkit {
namespace {

using testing::copy_bits;
using testing::decode;
using testing::decode_magnitude;
using testing::FloatFormat;
using testing::round_to;
using testing::same_bits;

template <class T>
class Float : public ::testing::Test {
 protected:
  using F = FloatFormat<T>;
  static constexpr uint32_t kInfinity = ((1u << F::kExponentBits) - 1) << F::kMantissaBits;

  // Returns whether T(value) is rounded correctly. NaN must stay NaN and keep its sign.
  static bool rounds(float value) {
    const T got(value);
    const T expected = round_to<T>(value);
    return std::isnan(value) ? std::isnan(decode(got)) && (got.bits ^ expected.bits) < 0x8000
                             : got.bits == expected.bits;
  }
};
using Types = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(Float, Types, );

TYPED_TEST(Float, DecodesEveryPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto element = copy_bits<TypeParam>(static_cast<uint16_t>(bits));
    const auto got = static_cast<float>(element);
    const double expected = decode(element);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << std::hex << bits;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << std::hex << bits;
    }
    ASSERT_EQ(std::signbit(got), bits >= 0x8000) << std::hex << bits;
  }
}

TYPED_TEST(Float, EveryPatternReadsBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto element = copy_bits<TypeParam>(static_cast<uint16_t>(bits));
    const TypeParam back(static_cast<float>(element));
    if (std::isnan(decode(element))) {
      ASSERT_TRUE(std::isnan(decode(back))) << std::hex << bits;
    } else {
      ASSERT_EQ(back.bits, bits) << std::hex << bits;
    }
  }
}

// Tests each element, the midpoint to the next element, and the adjacent float32 numbers of both.
TYPED_TEST(Float, RoundsAtEveryBoundary) {
  const float kInf = std::numeric_limits<float>::infinity();
  for (uint32_t bits = 0; bits < TestFixture::kInfinity; ++bits) {
    const double low = decode_magnitude<TypeParam>(bits);
    const double high = decode_magnitude<TypeParam>(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2)
        << "the midpoint is not exact in float32";
    for (const float center : {static_cast<float>(low), middle}) {
      for (const float x : {std::nextafter(center, -kInf), center, std::nextafter(center, kInf)}) {
        ASSERT_TRUE(TestFixture::rounds(x)) << std::hexfloat << x;
        ASSERT_TRUE(TestFixture::rounds(-x)) << std::hexfloat << -x;
      }
    }
  }
}

// Tests 2^32 / 1021 floats. Since the step is prime, the floats have every exponent and all kinds
// of mantissas, including NaN.
TYPED_TEST(Float, RoundsAllOverFloat32) {
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021) {
    const auto x = copy_bits<float>(static_cast<uint32_t>(bits));
    ASSERT_TRUE(TestFixture::rounds(x)) << std::hexfloat << x;
  }
}

TYPED_TEST(Float, SpecialValues) {
  using Limits = std::numeric_limits<float>;
  for (const float x : {0.0f, Limits::infinity(), Limits::max(), Limits::min(),
                        Limits::denorm_min(), Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    EXPECT_TRUE(TestFixture::rounds(x)) << x;
    EXPECT_TRUE(TestFixture::rounds(-x)) << -x;
  }
  // The payload of these NaNs is only in bits that the narrow type lacks.
  for (const uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7f80ffffu}) {
    EXPECT_TRUE(TestFixture::rounds(copy_bits<float>(bits))) << std::hex << bits;
  }
}

TEST(Float16, ConvertsKnownValues) {
  EXPECT_EQ(float16(1.0f).bits, 0x3c00);
  EXPECT_EQ(float16(-2.0f).bits, 0xc000);
  EXPECT_EQ(float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(float16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(float16(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(float16(0x1p-25f).bits, 0x0000);
}

TEST(Bfloat16, ConvertsKnownValues) {
  EXPECT_EQ(bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bfloat16(3.14159265f).bits, 0x4049);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(ComputeType, WidensStorageTypesOnly) {
  static_assert(std::is_same_v<compute_t<float16>, float>);
  static_assert(std::is_same_v<compute_t<bfloat16>, float>);
  static_assert(std::is_same_v<compute_t<float>, float>);
  static_assert(std::is_same_v<compute_t<double>, double>);
  static_assert(std::is_same_v<compute_t<int8_t>, int8_t>);
}

// The types are stored in tensors and copied as bytes; there must be no implicit conversion.
TEST(Float16, IsPlainStorage) {
  static_assert(sizeof(float16) == 2 && alignof(float16) == 2 && std::is_trivial_v<float16>);
  static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2 && std::is_trivial_v<bfloat16>);
  static_assert(!std::is_convertible_v<float, float16> && !std::is_convertible_v<float16, float>);
  static_assert(!std::is_convertible_v<float, bfloat16> && !std::is_convertible_v<bfloat16, float>);
}

}  // namespace
}  // namespace kernkit
