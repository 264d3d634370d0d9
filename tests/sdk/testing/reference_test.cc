// SPDX-License-Identifier: Apache-2.0
// Compares the reference helpers with the processor's conversions and with known values of IEEE
// 754.
#include "kernkit/testing/reference.h"

#include <gtest/gtest.h>

#include <random>

#include "kernkit/testing/tensor.h"
#include "sanitizers.h"

namespace kernkit::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
uint32_t bits_of(double value) {
  return round_to<T>(value).bits;
}

TEST(RoundTo, RoundsKnownValuesToFloat16) {
  EXPECT_EQ(bits_of<float16>(0.0), 0x0000u);
  EXPECT_EQ(bits_of<float16>(-0.0), 0x8000u);
  EXPECT_EQ(bits_of<float16>(1.0), 0x3c00u);
  EXPECT_EQ(bits_of<float16>(-2.0), 0xc000u);
  EXPECT_EQ(bits_of<float16>(65504), 0x7bffu);
  EXPECT_EQ(bits_of<float16>(std::nextafter(65520, 0)), 0x7bffu);
  EXPECT_EQ(bits_of<float16>(65520), 0x7c00u);
  EXPECT_EQ(bits_of<float16>(-kInf), 0xfc00u);
  EXPECT_EQ(bits_of<float16>(0x1p-24), 0x0001u);
  EXPECT_EQ(bits_of<float16>(0x1p-25), 0x0000u);
  EXPECT_EQ(bits_of<float16>(std::nextafter(0x1p-25, 1)), 0x0001u);
  EXPECT_EQ(bits_of<float16>(0x1.8p-24), 0x0002u);
  EXPECT_EQ(bits_of<float16>(0x1p-14), 0x0400u);
  EXPECT_EQ(bits_of<float16>(1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(bits_of<float16>(1 + 0x3p-11), 0x3c02u);
  EXPECT_EQ(bits_of<float16>(kNaN), 0x7e00u);
}

TEST(RoundTo, RoundsKnownValuesToBfloat16) {
  EXPECT_EQ(bits_of<bfloat16>(1.0), 0x3f80u);
  EXPECT_EQ(bits_of<bfloat16>(1 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(bits_of<bfloat16>(1 + 0x3p-8), 0x3f82u);
  EXPECT_EQ(bits_of<bfloat16>(0x1.fep127), 0x7f7fu);
  EXPECT_EQ(bits_of<bfloat16>(0x1.ffp127), 0x7f80u);
  EXPECT_EQ(bits_of<bfloat16>(0x1p-133), 0x0001u);
  EXPECT_EQ(bits_of<bfloat16>(0x1p-134), 0x0000u);
  EXPECT_EQ(bits_of<bfloat16>(kNaN), 0x7fc0u);
}

TEST(RoundTo, Float32IsTheHardwares) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // The mantissa is arbitrary; exponents range from below float32's subnormal numbers to beyond
    // its largest number.
    const uint64_t exponent = 1023 - 155 + random() % 290;
    const auto value = copy_bits<double>((random() & 0x800fffffffffffffu) | exponent << 52);
    ASSERT_TRUE(same_bits(round_to<float>(value), static_cast<float>(value))) << value;
  }
  for (const double value : {0.0, -0.0, kInf, -kInf, kNaN, 0x1p-149, 0x1p-150, 0x1.8p-149}) {
    EXPECT_TRUE(same_bits(round_to<float>(value), static_cast<float>(value))) << value;
  }
}

TEST(RoundTo, Float64IsTheValue) { EXPECT_EQ(round_to<double>(0.1), 0.1); }

TEST(Decode, Arithmetic) {
  EXPECT_EQ(decode(int8_t{-128}), -128.0);
  EXPECT_EQ(decode(uint8_t{255}), 255.0);
  EXPECT_EQ(decode(0.1f), 0x1.99999ap-4);
}

TEST(SameBits, Distinguishes) {
  EXPECT_TRUE(same_bits(1.0f, 1.0f));
  EXPECT_FALSE(same_bits(1.0f, std::nextafter(1.0f, 2.0f)));
  EXPECT_FALSE(same_bits(0.0, -0.0));
  EXPECT_TRUE(same_bits(kNaN, -kNaN));
  EXPECT_FALSE(same_bits(kNaN, kInf));
  EXPECT_TRUE(
      same_bits(copy_bits<float16>(uint16_t{0x7c01}), copy_bits<float16>(uint16_t{0xfe00})));
  EXPECT_FALSE(
      same_bits(copy_bits<float16>(uint16_t{0x7c01}), copy_bits<float16>(uint16_t{0x7c00})));
  EXPECT_FALSE(same_bits(int64_t{1} << 62, (int64_t{1} << 62) + 1));
}

TEST(FirstDifference, Finds) {
  const int a[] = {1, 2, 3}, b[] = {1, 2, 4};
  const auto at = [](const int* p) { return [p](int64_t i) { return p[i]; }; };
  EXPECT_EQ(first_difference(3, at(a), at(b)), 2);
  EXPECT_EQ(first_difference(2, at(a), at(b)), -1);
  EXPECT_EQ(first_difference(0, at(a), at(b)), -1);
}

KERNKIT_READS_POISONED_MEMORY void flip(unsigned char* byte) { *byte ^= 1; }

// intact() detects writes outside of the tensor. AddressSanitizer does not check the writes of this
// test.
TEST(HostTensor, GuardsSeeStrayWrites) {
  for (const int64_t n : {0, 1, 5}) {
    HostTensor<float> x({n}, {1, 4, false}, 2.0f);
    EXPECT_EQ(x.size(), n);
    for (const float value : x) EXPECT_EQ(value, 2.0f);
    EXPECT_TRUE(x.intact());
    auto* bytes = reinterpret_cast<unsigned char*>(x.begin());
    for (unsigned char* stray : {bytes - 1, bytes + n * 4}) {
      flip(stray);
      EXPECT_FALSE(x.intact());
      flip(stray);
    }
    EXPECT_TRUE(x.intact());
  }
}

#if defined(TEST_WITH_ASAN)
// Reads the element without using its value.
template <class T>
void read(const T* element) {
  const volatile T value = *element;
  (void)value;
}

TEST(HostTensorDeathTest, ReadsOutside) {
  for (const int64_t n : {0, 1, 5, 16, 19}) {
    HostTensor<uint16_t> x({n}, {3, 6, false});
    for (const uint16_t& element : x) read(&element);
    EXPECT_DEATH(read(x.end()), "use-after-poison") << n;
    EXPECT_DEATH(read(x.end() + 16), "use-after-poison") << "a pack later, " << n;
    EXPECT_DEATH(read(x.begin() - 4), "use-after-poison") << "without byte_offset, " << n;
  }
}
#endif

TEST(HostTensor, Placement) {
  HostTensor<double> x({2, 3}, {1, 24, true});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x.begin()) % 64, 8u);
  EXPECT_EQ(x.dl()->strides, nullptr);
  EXPECT_EQ(x.dl()->byte_offset, 24u);
  EXPECT_EQ(static_cast<char*>(x.dl()->data) + 24, reinterpret_cast<char*>(x.begin()));
}

TEST(ErrorOf, ReturnsKindAndMessage) {
  EXPECT_EQ(error_of([] {}), "nothing");
  EXPECT_EQ(error_of([] { KERNKIT_THROW(ValueError) << "n: " << 3; }), "ValueError: n: 3");
}

}  // namespace
}  // namespace kernkit::testing
