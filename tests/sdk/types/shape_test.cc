// SPDX-License-Identifier: Apache-2.0
#include "kernkit/types/shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace kernkit {
namespace {

constexpr int64_t kMax = INT64_MAX;
constexpr int64_t kUntouched = -77;

std::optional<int64_t> product(std::vector<int64_t> sizes) {
  int64_t out = kUntouched;
  if (checked_product({sizes.data(), sizes.size()}, &out)) return out;
  EXPECT_EQ(out, kUntouched);
  return std::nullopt;
}

TEST(CheckedProduct, Ordinary) {
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({1}), 1);
  EXPECT_EQ(product({4, 8, 3}), 96);
}

TEST(CheckedProduct, ZeroSizes) {
  EXPECT_EQ(product({0}), 0);
  EXPECT_EQ(product({0, 5}), 0);
  EXPECT_EQ(product({5, 0, 7}), 0);
}

// If a factor is zero the product is zero, whether or not an intermediate product overflows.
TEST(CheckedProduct, ZeroBesidesOverflow) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(product({big, big, 0}), 0);
  EXPECT_EQ(product({0, big, big}), 0);
  EXPECT_EQ(product({big, big, 0, 5}), 0);
  EXPECT_EQ(product({big, 0, big}), 0);
  EXPECT_EQ(product({kMax, kMax, kMax, 0}), 0);
}

TEST(CheckedProduct, Overflow) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(product({big, big}), std::nullopt);  // 2^80, which wraps to 0
  EXPECT_EQ(product({int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(product({int64_t{1} << 31, int64_t{1} << 32}), std::nullopt);  // 2^63
  EXPECT_EQ(product({int64_t{1} << 31, int64_t{1} << 31}), int64_t{1} << 62);
  EXPECT_EQ(product({kMax}), kMax);
  EXPECT_EQ(product({1, kMax, 1}), kMax);
  EXPECT_EQ(product({kMax, 2}), std::nullopt);
  EXPECT_EQ(product({big, big, 3}), std::nullopt);  // 3 * 2^80, which also wraps to 0
}

TEST(CheckedProduct, Negative) {
  EXPECT_EQ(product({-1}), std::nullopt);
  EXPECT_EQ(product({-2, -3}), std::nullopt);
  EXPECT_EQ(product({0, -1}), std::nullopt);
  EXPECT_EQ(product({-1, 0}), std::nullopt);
  EXPECT_EQ(product({INT64_MIN}), std::nullopt);
}

TEST(CheckedProduct, AtCompileTime) {
  constexpr int64_t kSizes[] = {2, 3, 7};
  constexpr int64_t kProduct = [&] {
    int64_t out = 0;
    return checked_product(kSizes, &out) ? out : -1;
  }();
  static_assert(kProduct == 42);
}

TEST(ShapeView, Accessors) {
  const int64_t sizes[] = {4, 8};
  const ShapeView shape = sizes;
  EXPECT_EQ(shape.data(), sizes);
  EXPECT_EQ(shape.size(), 2u);
  EXPECT_FALSE(shape.empty());
  EXPECT_EQ(shape[1], 8);
  EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()), (std::vector<int64_t>{4, 8}));
  EXPECT_TRUE(ShapeView().empty());
  EXPECT_EQ(ShapeView().begin(), ShapeView().end());
}

// A braced list of sizes that starts with 0 must not be converted to a null pointer and a size.
TEST(ShapeView, Literal) {
  const auto sizes = [](ShapeView shape) {
    return std::vector<int64_t>(shape.begin(), shape.end());
  };
  EXPECT_EQ(sizes({0, 8}), (std::vector<int64_t>{0, 8}));
  EXPECT_EQ(sizes({8, 0}), (std::vector<int64_t>{8, 0}));
  EXPECT_EQ(sizes({5}), (std::vector<int64_t>{5}));
  EXPECT_EQ(sizes({}), (std::vector<int64_t>{}));
  const int64_t array[] = {4, 8};
  EXPECT_EQ(sizes({array, 1}), (std::vector<int64_t>{4}));
  EXPECT_EQ(sizes({array}), (std::vector<int64_t>{4, 8}));
}

TEST(ShapeView, Equality) {
  const int64_t a[] = {4, 8}, same[] = {4, 8}, other[] = {4, 9}, longer[] = {4, 8, 1};
  EXPECT_TRUE(ShapeView(a) == ShapeView(same));
  EXPECT_TRUE(ShapeView(a) != ShapeView(other));
  EXPECT_TRUE(ShapeView(a) != ShapeView(longer));
  EXPECT_TRUE(ShapeView(longer) != ShapeView(a));
  EXPECT_TRUE(ShapeView() == ShapeView(a, 0));
  EXPECT_FALSE(ShapeView(a) == ShapeView());
}

std::vector<int64_t> listed(StridesView strides) {
  std::vector<int64_t> out;
  for (const int64_t stride : strides) out.push_back(stride);
  return out;
}

TEST(StridesView, ReadsStrides) {
  const int64_t sizes[] = {4, 8}, values[] = {-1, 100};
  const StridesView strides(values, sizes);
  EXPECT_EQ(strides.size(), 2u);
  EXPECT_EQ(strides[0], -1);
  EXPECT_EQ(strides[1], 100);
  EXPECT_EQ(listed(strides), (std::vector<int64_t>{-1, 100}));
}

TEST(StridesView, NullIsRowMajor) {
  const int64_t sizes[] = {2, 3, 4};
  EXPECT_EQ(listed(StridesView(nullptr, sizes)), (std::vector<int64_t>{12, 4, 1}));
  const int64_t empty[] = {2, 0, 4};
  EXPECT_EQ(listed(StridesView(nullptr, empty)), (std::vector<int64_t>{0, 4, 1}));
  EXPECT_EQ(listed(StridesView(nullptr, {})), std::vector<int64_t>{});
}

// Computed strides may wrap without an error. Checks later reject the tensor with a message that
// prints the strides.
TEST(StridesView, OverflowWraps) {
  const int64_t sizes[] = {1, int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(listed(StridesView(nullptr, sizes)), (std::vector<int64_t>{0, int64_t{1} << 40, 1}));
}

}  // namespace
}  // namespace kernkit
