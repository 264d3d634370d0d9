// SPDX-License-Identifier: Apache-2.0
#include "kernkit/schema/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace kernkit::schema {
namespace {

std::optional<int64_t> read_int(const std::string& text) {
  int64_t value = 0;
  if (!parse_int(text.data(), static_cast<int>(text.size()), &value)) return std::nullopt;
  return value;
}
std::optional<double> read_float(const std::string& text) {
  double value = 0;
  if (!parse_float(text.data(), static_cast<int>(text.size()), &value)) return std::nullopt;
  return value;
}

TEST(ParseInt, Good) {
  EXPECT_EQ(read_int("0"), 0);
  EXPECT_EQ(read_int("-1"), -1);
  EXPECT_EQ(read_int("007"), 7);
  EXPECT_EQ(read_int("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(read_int("-9223372036854775808"), std::numeric_limits<int64_t>::min());
}

TEST(ParseInt, Bad) {
  for (const char* text : {"", "-", "+1", "1.0", "1e3", "0x10", "--1", "1-", "a", "1_000",
                           "9223372036854775808", "-9223372036854775809", "92233720368547758070"}) {
    EXPECT_EQ(read_int(text), std::nullopt) << text;
  }
}

TEST(ParseFloat, Good) {
  for (const char* text :
       {"0",
        "1",
        "-1",
        "0.1",
        "1e-5",
        "1E5",
        "1e+5",
        "-12.5e-3",
        ".5",
        "5.",
        "3.141592653589793",
        "1e27",
        "1e-27",
        "0.000001",
        "123456789012345678",
        "1e-30",
        "1e28",
        "1e100",
        "1e-100",
        "1234567890123456789",
        "3.4028234663852886e+38",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-323",
        "1e-400",
        "0e99999",
        "9007199254740993",
        "9007199254740992.999999999999999999999999999999999999999999",
        "9007199254740993.000000000000000000000000000000000000000000000000000000000000000001"}) {
    EXPECT_EQ(read_float(text), strtod(text, nullptr)) << text;
  }
  EXPECT_TRUE(std::isnan(*read_float("nan")));
  EXPECT_EQ(read_float("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read_float("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(*read_float("-0.0")));
}

TEST(ParseFloat, Bad) {
  for (const char* text :
       {"", "-", ".", "e5", "1e", "1e-", "1e+", "1.2.3", "1e5.0", "-nan", "infinity", "0x1p3", "1f",
        "+1", "1e+-5", "1e309", "1e310", "1.7976931348623159e308", "1e2147483648000000000000"}) {
    EXPECT_EQ(read_float(text), std::nullopt) << text;
  }
}

// A default must equal the number that Python reads from the same schema line.
TEST(ParseFloat, RoundsToNearest) {
  std::mt19937_64 random(7);
  int wrong = 0;
  std::string example;
  const auto compare = [&](const std::string& text) {
    if (read_float(text) == strtod(text.c_str(), nullptr)) return;
    ++wrong;
    if (example.empty() || text.size() < example.size()) example = text;
  };
  for (int i = 0; i < 100000; ++i) {
    const std::string digits = std::to_string(random() % 1000000000000000000u >> random() % 40);
    compare(digits + "e" + std::to_string(static_cast<int>(random() % 55) - 27));
    compare(digits + "e" + std::to_string(static_cast<int>(random() % 630) - 340));
  }
  // Texts exactly halfway between two doubles, with all digits, and texts that differ from these in
  // one digit.
  for (int i = 0; i < 300; ++i) {
    const uint64_t bits = random() >> 1;
    double low = 0;
    std::memcpy(&low, &bits, sizeof(low));
    const double high = std::nextafter(low, INFINITY);
    if (!std::isfinite(high)) continue;
    char text[1200];
    const long double half = static_cast<long double>(low) / 2 + static_cast<long double>(high) / 2;
    std::snprintf(text, sizeof(text), "%.780Le", half);
    compare(text);
    char* last = std::strchr(text, 'e') - 1;
    *last = '1';
    compare(text);
    char* point = std::strchr(text, '.');
    ++point[1 + random() % 15];  // the character after 9 is ':', which is not a digit
    if (std::strchr(text, ':') == nullptr) compare(text);
  }
  EXPECT_EQ(wrong, 0) << "for example " << example;
}

// Parses a number at compile time, when kernkit also parses schema lines. Returns -1 if the text is
// not a number.
constexpr double constant(const char* text, int size) {
  double value = 0;
  return parse_float(text, size, &value) ? value : -1;
}
static_assert(constant("1e-30", 5) == 1e-30);
static_assert(constant("1.7976931348623157e308", 22) == 1.7976931348623157e308);
static_assert(constant("5e-324", 6) == 5e-324);

}  // namespace
}  // namespace kernkit::schema
