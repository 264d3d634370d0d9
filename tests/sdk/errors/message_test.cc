// SPDX-License-Identifier: Apache-2.0
#include "kernkit/errors/message.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernkit/errors/streamable.h"

namespace kernkit {

// A user's type with an overload of operator<<, found by argument-dependent lookup.
namespace elsewhere {
struct Point {
  int x;
};
Message& operator<<(Message& out, const Point& point) { return out << "Point " << point.x; }
enum Status { kFine, kBroken = 300 };
enum Small : int8_t { kMinus = -3 };
struct Streamed {
  double x;
};
std::ostream& operator<<(std::ostream& out, const Streamed& value) {
  return out << '<' << value.x << '>';
}
struct Both {};
std::ostream& operator<<(std::ostream& out, const Both&) { return out << "stream"; }
Message& operator<<(Message& out, const Both&) { return out << "message"; }
}  // namespace elsewhere

namespace {

template <class... T>
std::string text(const T&... values) {
  Message message;
  (message << ... << values);
  EXPECT_EQ(message.size(), std::string(message.c_str()).size());
  return message.c_str();
}

TEST(Message, Empty) {
  Message message;
  EXPECT_STREQ(message.c_str(), "");
  EXPECT_EQ(message.size(), 0u);
  EXPECT_TRUE(message.empty());
  message << "";
  EXPECT_STREQ(message.c_str(), "");
  EXPECT_TRUE(message.empty());
}

TEST(Message, Text) {
  EXPECT_EQ(text("abc"), "abc");
  EXPECT_EQ(text(static_cast<const char*>(nullptr)), "(null)");
  EXPECT_EQ(text('x', ' ', 'y'), "x y");
  EXPECT_EQ(text(std::string("str")), "str");
  EXPECT_EQ(text(std::string_view("viewed").substr(0, 4)), "view");
  EXPECT_EQ(text(std::vector<char>{'o', 'k'}), "ok");
}

TEST(Message, Integers) {
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(-7), "-7");
  EXPECT_EQ(text(10), "10");
  EXPECT_EQ(text(INT_MIN), "-2147483648");
  EXPECT_EQ(text(UINT_MAX), "4294967295");
  EXPECT_EQ(text(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(text(INT64_MAX), "9223372036854775807");
  EXPECT_EQ(text(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(text(1LL, ' ', 2ULL, ' ', short{3}), "1 2 3");
}

// Integers of one byte are printed as numbers, not as characters.
TEST(Message, BytesAreNumbers) {
  EXPECT_EQ(text(uint8_t{2}), "2");
  EXPECT_EQ(text(int8_t{-65}), "-65");
  EXPECT_EQ(text(uint8_t{255}), "255");
}

TEST(Message, Bools) { EXPECT_EQ(text(true, ' ', false), "true false"); }

TEST(Message, Doubles) {
  EXPECT_EQ(text(0.0), "0");
  EXPECT_EQ(text(-0.0), "-0");
  EXPECT_EQ(text(2.5), "2.5");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(text(1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(text(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text(DBL_MAX), "1.7976931348623157e+308");
  EXPECT_EQ(text(1e-5f), "9.9999997473787516e-06");
  EXPECT_EQ(text(HUGE_VAL, ' ', -HUGE_VAL), "inf -inf");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Message, DoublesReadBack) {
  for (double value = 1e-310; value < 1e300; value *= 1.7e3) {
    EXPECT_EQ(strtod(text(value).c_str(), nullptr), value);
    EXPECT_EQ(strtod(text(-value).c_str(), nullptr), -value);
  }
}

TEST(Message, Pointers) {
  const int x = 0;
  char expected[32];
  snprintf(expected, sizeof(expected), "%p", static_cast<const void*>(&x));
  EXPECT_EQ(text(static_cast<const void*>(&x)), expected);
  EXPECT_EQ(text(&x), expected);
}

TEST(Message, Null) { EXPECT_EQ(text(nullptr), "nullptr"); }

TEST(Message, DescribesTensors) {
  const int64_t sizes[] = {4, -8}, strides[] = {1, 0};
  EXPECT_EQ(text(dl_bfloat16), "bfloat16");
  EXPECT_EQ(text(DLDevice{kDLCUDA, 1}), "cuda:1");
  EXPECT_EQ(text(ShapeView(sizes)), "[4, -8]");
  EXPECT_EQ(text(ShapeView(sizes, 1)), "[4]");
  EXPECT_EQ(text(ShapeView()), "[]");
  EXPECT_EQ(text(StridesView(strides, sizes)), "[1, 0]");
  EXPECT_EQ(text(StridesView(nullptr, {})), "[]");
}

TEST(Message, OwnTypes) { EXPECT_EQ(text(elsewhere::Point{3}, "!"), "Point 3!"); }

TEST(Message, Enumerators) {
  EXPECT_EQ(text(elsewhere::kBroken, ' ', elsewhere::kMinus), "300 -3");
}

TEST(Message, StreamableClasses) {
  EXPECT_EQ(text("at ", elsewhere::Streamed{0.5}, "!"), "at <0.5>!");
  EXPECT_EQ(text(elsewhere::Both()), "message");
  EXPECT_EQ(text(ShapeView(), std::string("text")), "[]text");
}

TEST(Message, Grows) {
  Message message;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    message << i << ",";
    expected += std::to_string(i) + ",";
  }
  EXPECT_EQ(message.c_str(), expected);
  EXPECT_EQ(message.size(), expected.size());
}

TEST(Message, Moves) {
  Message from;
  from << "moved text";
  Message to(std::move(from));
  EXPECT_STREQ(to.c_str(), "moved text");
  EXPECT_STREQ(from.c_str(), "");  // NOLINT(bugprone-use-after-move)
  from << "again";
  EXPECT_STREQ(from.c_str(), "again");
  EXPECT_STREQ(to.c_str(), "moved text");
}

TEST(Message, StreamOfTemporary) { EXPECT_STREQ((Message().stream() << 1 << "x").c_str(), "1x"); }

// Appending an empty text with a null pointer adds no characters.
TEST(Message, TextWithoutData) {
  Message text;
  text << std::string_view() << "a" << std::string_view() << "b";
  text.append(nullptr, 0);
  EXPECT_STREQ(text.c_str(), "ab");
  EXPECT_EQ(text.size(), 2u);
}

}  // namespace
}  // namespace kernkit
