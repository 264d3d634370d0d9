// SPDX-License-Identifier: Apache-2.0
#include "kernkit/dispatch_value.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;

TEST(DispatchBool, CallsWithTheConstant) {
  for (const bool flag : {true, false}) {
    std::vector<bool> calls;
    dispatch_bool(flag, [&](auto tag) {
      constexpr bool kFlag = decltype(tag)::value;
      calls.push_back(kFlag);
    });
    EXPECT_EQ(calls, std::vector<bool>{flag});
  }
}

std::vector<int64_t> called(int64_t value) {
  std::vector<int64_t> calls;
  dispatch_int<64, -1, 256, 64>(value, "head_dim", [&](auto tag) {
    constexpr int64_t kValue = decltype(tag)::value;
    calls.push_back(kValue);
  });
  return calls;
}

TEST(DispatchInt, CallsOnceWithTheConstant) {
  for (const int64_t value : {64, -1, 256}) EXPECT_EQ(called(value), std::vector<int64_t>{value});
}

TEST(DispatchInt, Unsupported) {
  EXPECT_EQ(error_of([] { called(96); }),
            "ValueError: head_dim: 96 is not supported; expected 64, -1, 256 or 64");
  EXPECT_NE(error_of([] { called(64 + (int64_t{1} << 32)); }), "nothing");
  EXPECT_EQ(error_of([] { dispatch_int<8>(9, "n", [](auto) {}); }),
            "ValueError: n: 9 is not supported; expected 8");
  const int line = __LINE__ + 2;
  try {
    dispatch_int<8>(9, "n", [](auto) {});
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, line);
    EXPECT_STREQ(error.location().file, __FILE__);
  }
}

// Returns the size of the index type for a tensor of these sizes and strides [bytes]. The elements
// are not read.
size_t index_bytes(std::vector<int64_t> sizes, std::vector<int64_t> strides = {}) {
  DLTensor tensor{};
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(sizes.size());
  tensor.dtype = dl_int8;
  tensor.shape = sizes.data();
  tensor.strides = strides.empty() ? nullptr : strides.data();
  DLTensor small{};
  small.dtype = dl_int8;
  size_t first = 0, second = 0;
  dispatch_index({&tensor, &small}, [&](auto tag) { first = sizeof(type_of<decltype(tag)>); });
  dispatch_index({&small, &tensor}, [&](auto tag) { second = sizeof(type_of<decltype(tag)>); });
  EXPECT_EQ(first, second) << "the index type depends on all views";
  return first;
}

TEST(DispatchIndex, DenseBoundary) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  EXPECT_EQ(index_bytes({}), 4u);
  EXPECT_EQ(index_bytes({1000}), 4u);
  EXPECT_EQ(index_bytes({kLimit - 1}), 4u);
  // The last index, 2^31 - 1, fits into int32, but the number of elements does not: a loop with an
  // int32 index would not end.
  EXPECT_EQ(index_bytes({kLimit}), 8u);
  EXPECT_EQ(index_bytes({kLimit + 1}), 8u);
  EXPECT_EQ(index_bytes({2 * kLimit}), 8u);
  EXPECT_EQ(index_bytes({1 << 16, (1 << 15) - 1}), 4u);
  EXPECT_EQ(index_bytes({1 << 16, 1 << 15}), 8u);
  EXPECT_EQ(index_bytes({1 << 16, 1 << 16}), 8u);
  // A loop over rows needs an index for each row, even if the rows have no elements.
  EXPECT_EQ(index_bytes({kLimit - 1, kLimit - 1, 0}), 4u);
  EXPECT_EQ(index_bytes({kLimit, 0}), 8u);
  EXPECT_EQ(index_bytes({0, kLimit}), 8u);
}

TEST(DispatchIndex, StridesCount) {
  EXPECT_EQ(index_bytes({2}, {INT32_MAX}), 4u);
  EXPECT_EQ(index_bytes({2}, {int64_t{INT32_MAX} + 1}), 8u);
  EXPECT_EQ(index_bytes({2}, {INT32_MIN}), 4u);
  EXPECT_EQ(index_bytes({2}, {int64_t{INT32_MIN} - 1}), 8u);
  EXPECT_EQ(index_bytes({2, 2}, {INT32_MAX, 1}), 8u);
  EXPECT_EQ(index_bytes({2, 2}, {INT32_MAX, -1}), 4u);
  EXPECT_EQ(index_bytes({1}, {INT64_MAX}), 4u);
  EXPECT_EQ(index_bytes({3}, {INT64_MAX}), 8u);
  EXPECT_EQ(index_bytes({0, 3}, {1, INT64_MAX}), 4u);
}

// The number of indices determines the index type, even if an expanded tensor has one element in
// memory.
TEST(DispatchIndex, PositionsCount) { EXPECT_EQ(index_bytes({int64_t{1} << 32}, {0}), 8u); }

}  // namespace
}  // namespace kernkit
