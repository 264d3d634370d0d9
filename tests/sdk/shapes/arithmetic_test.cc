// SPDX-License-Identifier: Apache-2.0
// The sizes that expressions in a schema line give, and expressions that give no size.
#include "kernkit/shapes/arithmetic.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace kernkit::shapes {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

std::optional<int64_t> result_of(NodeKind kind, int64_t left, int64_t right) {
  int64_t result = 0;
  if (!apply(kind, left, right, &result)) return std::nullopt;
  return result;
}

TEST(ShapeArithmetic, SumsAndProductsThatOverflowAreNoSizes) {
  EXPECT_EQ(result_of(NodeKind::kAdd, kMost - 1, 1), kMost);
  EXPECT_EQ(result_of(NodeKind::kAdd, kMost, 1), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kAdd, kLeast, -1), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kSubtract, kLeast + 1, 1), kLeast);
  EXPECT_EQ(result_of(NodeKind::kSubtract, kLeast, 1), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kSubtract, 0, kLeast), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kMultiply, kMost / 2, 2), kMost - 1);
  EXPECT_EQ(result_of(NodeKind::kMultiply, kMost / 2 + 1, 2), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kMultiply, int64_t{1} << 32, int64_t{1} << 32), std::nullopt);
}

TEST(ShapeArithmetic, DivisionIsByPositiveNumbers) {
  for (const NodeKind kind : {NodeKind::kDivide, NodeKind::kCeilDiv, NodeKind::kRoundUp}) {
    EXPECT_EQ(result_of(kind, 8, 0), std::nullopt);
    EXPECT_EQ(result_of(kind, 8, -1), std::nullopt);
    EXPECT_EQ(result_of(kind, 8, -4), std::nullopt);
    EXPECT_EQ(result_of(kind, kLeast, -1), std::nullopt);
    EXPECT_EQ(result_of(kind, 8, 1), 8);
    EXPECT_EQ(result_of(kind, 0, 4), 0);
  }
  EXPECT_EQ(result_of(NodeKind::kDivide, 8, 4), 2);
  EXPECT_EQ(result_of(NodeKind::kDivide, 9, 4), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kDivide, -9, 4), std::nullopt);
}

// A quotient is rounded upwards. A negative quotient, which a difference may give, is therefore
// rounded towards 0.
// [rounding]
TEST(ShapeArithmetic, RoundingIsUpwards) {
  EXPECT_EQ(result_of(NodeKind::kCeilDiv, 7, 4), 2);
  EXPECT_EQ(result_of(NodeKind::kCeilDiv, 8, 4), 2);
  EXPECT_EQ(result_of(NodeKind::kCeilDiv, 9, 4), 3);
  EXPECT_EQ(result_of(NodeKind::kCeilDiv, -7, 4), -1);
  EXPECT_EQ(result_of(NodeKind::kCeilDiv, -8, 4), -2);
  EXPECT_EQ(result_of(NodeKind::kCeilDiv, kMost, 2), kMost / 2 + 1);
  EXPECT_EQ(result_of(NodeKind::kRoundUp, 7, 4), 8);
  EXPECT_EQ(result_of(NodeKind::kRoundUp, 8, 4), 8);
  EXPECT_EQ(result_of(NodeKind::kRoundUp, -7, 4), -4);
  EXPECT_EQ(result_of(NodeKind::kRoundUp, kMost - 1, 2), kMost - 1);
  EXPECT_EQ(result_of(NodeKind::kRoundUp, kMost, 2), std::nullopt);
  EXPECT_EQ(result_of(NodeKind::kRoundUp, kMost - 1, kMost), kMost);
}
// [/rounding]

TEST(ShapeArithmetic, ARunIsTheSizesBetweenTheOthers) {
  int64_t shape[] = {2, 3, 4, 5};
  DLTensor x = {};
  x.shape = shape;
  x.ndim = 4;
  Value value;
  value.count = 3;  // [n, ..., d]
  value.run = 1;
  EXPECT_EQ(run_of(&x, value), (ShapeView{shape + 1, 2}));
  x.ndim = 2;
  EXPECT_EQ(run_of(&x, value).size(), 0u);
}

}  // namespace
}  // namespace kernkit::shapes
