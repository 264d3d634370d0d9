// SPDX-License-Identifier: Apache-2.0
#include "kernkit/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
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
       {"0", "1", "-1", "0.1", "1e-5", "1E5", "1e+5", "-12.5e-3", ".5", "5.", "3.141592653589793",
        "1e27", "1e-27", "0.000001", "123456789012345678"}) {
    EXPECT_EQ(read_float(text), strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(read_float("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read_float("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(*read_float("-0.0")));
}

TEST(ParseFloat, Bad) {
  for (const char* text : {"",         "-",
                           ".",        "e5",
                           "1e",       "1e-",
                           "1e+",      "1.2.3",
                           "1e5.0",    "nan",
                           "infinity", "0x1p3",
                           "1f",       "+1",
                           "1e+-5",    "1e100",
                           "1e-100",   "1234567890123456789",
                           "1e28",     "1e2147483648000000000000"}) {
    EXPECT_EQ(read_float(text), std::nullopt) << text;
  }
}

// A default must be the number that Python reads from the same line.
TEST(ParseFloat, RoundsToNearest) {
  std::mt19937_64 random(7);
  int wrong = 0;
  std::string example;
  for (int i = 0; i < 300000; ++i) {
    const uint64_t digits = random() % 1000000000000000000u >> random() % 40;
    const std::string text =
        std::to_string(digits) + "e" + std::to_string(static_cast<int>(random() % 55) - 27);
    if (read_float(text) != strtod(text.c_str(), nullptr)) {
      ++wrong;
      if (example.empty() || text.size() < example.size()) example = text;
    }
  }
  EXPECT_EQ(wrong, 0) << "for example " << example;
}

}  // namespace
}  // namespace kernkit::schema
