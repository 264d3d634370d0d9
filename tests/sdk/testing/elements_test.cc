// SPDX-License-Identifier: Apache-2.0
// Comparison of results of different dtypes.
#include "kernkit/testing/contract/elements.h"

#include <gtest/gtest.h>

namespace kernkit::testing::contract {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(DifferenceOfNumbers, ComparesFiniteElementsBesideAnInfinity) {
  const Elements expected = make_elements(dl_float64, 3, {1, kInf, 3});
  EXPECT_EQ(difference_of_numbers(make_elements(dl_float32, 3, {1, 2, 3}), expected, 0), "");
  EXPECT_EQ(difference_of_numbers(make_elements(dl_float32, 3, {1, 2, 4}), expected, 0),
            "element 2 is 4, not 3");
}

TEST(DifferenceOfNumbers, ReportsAnotherNumberOfElements) {
  const Elements expected = make_elements(dl_float64, 3, {1, 2, 3});
  for (const int64_t n : {0, 2, 4}) {
    EXPECT_EQ(difference_of_numbers(make_elements(dl_float32, n, {1, 2, 3}), expected, 0),
              "it has another number of elements");
  }
}

}  // namespace
}  // namespace kernkit::testing::contract
