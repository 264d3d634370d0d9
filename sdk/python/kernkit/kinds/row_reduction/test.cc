// SPDX-License-Identifier: Apache-2.0
#include "@op@/@op@.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "kernkit/testing/test_device.h"

namespace @library@ {
namespace {

using kernkit::testing::decode;
using kernkit::testing::is_near;
using kernkit::testing::Placement;
using kernkit::testing::TestDevice;
using kernkit::testing::TestTensor;

// The formula once more, in double. Write it here.
double expected(@row_parameters@) {
  double total = 0;
  for (const double element : row) total += element;
  return @total@;
}

@two_devices@
template <class T>
class @Op@Values : public ::testing::Test {
 protected:
  ~@Op@Values() override { EXPECT_EQ(device_.faults(), ""); }
  TestDevice device_;
};
using Types =
    ::testing::Types<kernkit::float16, kernkit::bfloat16, float, double>;
TYPED_TEST_SUITE(@Op@Values, Types, );

TYPED_TEST(@Op@Values, EveryShapeAndPlacement) {
  const int64_t shapes[][2] = {{0, 3}, {3, 0}, {1, 1}, {3, 31}, {5, 33}, {2, 256}, {3, 1027}};
  for (const auto& [rows, columns] : shapes) {
    for (const Placement& placement : kernkit::testing::kPlacements) {
      SCOPED_TRACE(::testing::Message()
                   << "[" << rows << ", " << columns << "], first " << placement.first
                   << ", byte_offset " << placement.byte_offset);
      TestTensor<TypeParam> @first@({rows, columns}, placement);
      TestTensor<TypeParam> @output@({rows}, placement, TypeParam(77.0f));
      fill_eighths(@first@, 1);
      @op@(@call@);
      ASSERT_EQ(this->device_.faults(), "");
      for (int64_t i = 0; i < rows; ++i) {
        std::vector<double> row;
        for (int64_t j = 0; j < columns; ++j) row.push_back(decode(@first@[i * columns + j]));
        ASSERT_TRUE(is_near(@output@[i], expected(@row_arguments@))) << i << ": " << decode(@output@[i]);
      }
      EXPECT_TRUE(@output@.intact());
    }
  }
}

class @Op@Rejects : public ::testing::Test {
 protected:
  std::string error() {
    return kernkit::testing::error_of([&] { @op@(@call@); });
  }
  TestDevice device_;
  TestTensor<float> @first@{{2, 3}};
  TestTensor<float> @output@{{2}};
};

TEST_F(@Op@Rejects, Nothing) { EXPECT_EQ(error(), "nothing"); }

TEST_F(@Op@Rejects, Dtype) {
  @first@.dl()->dtype = kernkit::dl_int32;
  EXPECT_EQ(error(),
            "TypeError: @first@: dtype int32 is not supported; expected float16, bfloat16, float32 or "
            "float64");
}

TEST_F(@Op@Rejects, MixedDtypes) {
  @output@.dl()->dtype = kernkit::dl_float16;
  EXPECT_EQ(error(), "TypeError: @output@: dtype float16 does not match @first@ (float32)");
}

TEST_F(@Op@Rejects, Rank) {
  @first@.dl()->ndim = 1;
  EXPECT_EQ(error(), "ValueError: @first@: shape [2] does not match [rows, columns]");
}

TEST_F(@Op@Rejects, Shape) {
  @output@.dl()->shape[0] = 3;
  EXPECT_EQ(error(),
            "ValueError: @output@: shape [3] does not match [rows] with rows = 2 (bound by @first@)");
}

TEST_F(@Op@Rejects, Layout) {
  @first@.dl()->strides[0] = 4;
  EXPECT_EQ(error(), "ValueError: @first@: must be contiguous; shape [2, 3] has strides [4, 1]");
}

TEST_F(@Op@Rejects, Overlap) {
  @output@.dl()->data = &@first@[1];
  EXPECT_EQ(error().find("ValueError: @output@: overlaps @first@ in memory ("), 0u);
}

}  // namespace
}  // namespace @library@
