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
double expected(@double_parameters@) { return @formula@; }

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
  for (const std::vector<int64_t>& shape : kernkit::testing::kShapes) {
    for (const Placement& placement : kernkit::testing::kPlacements) {
      SCOPED_TRACE(::testing::Message()
                   << ::testing::PrintToString(shape) << ", first " << placement.first
                   << ", byte_offset " << placement.byte_offset);
      @make_inputs@
      TestTensor<TypeParam> @output@(shape, placement, TypeParam(77.0f));
      @op@(@call@);
      ASSERT_EQ(this->device_.faults(), "");
      for (int64_t i = 0; i < @output@.size(); ++i) {
        ASSERT_TRUE(is_near(@output@[i], expected(@decoded@))) << i << ": " << decode(@output@[i]);
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
  @float_tensors@
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

TEST_F(@Op@Rejects, Shape) {
  @output@.dl()->shape[1] = 2;
  EXPECT_EQ(error(), "ValueError: @output@: shape [2, 2] does not match @first@ ([2, 3])");
}

TEST_F(@Op@Rejects, Layout) {
  @output@.dl()->strides[0] = 4;
  EXPECT_EQ(error(), "ValueError: @output@: must be contiguous; shape [2, 3] has strides [4, 1]");
}

TEST_F(@Op@Rejects, PartialOverlap) {
  @output@.dl()->data = &@first@[1];
  EXPECT_EQ(error().find("ValueError: @output@: partially overlaps @first@ in memory ("), 0u);
}

}  // namespace
}  // namespace @library@
