// SPDX-License-Identifier: Apache-2.0
#include "@op@/@op@.h"

#include <gtest/gtest.h>

#include <string>

#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "kernkit/testing/test_device.h"

namespace @library@ {
namespace {

using kernkit::testing::Placement;
using kernkit::testing::TestDevice;
using kernkit::testing::TestTensor;

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

TYPED_TEST(@Op@Values, EverySizeAndPlacement) {
  for (const int64_t count : {0, 1, 7, 256, 1027}) {
    for (const Placement& placement : kernkit::testing::kPlacements) {
      SCOPED_TRACE(::testing::Message() << count << ", first " << placement.first
                                        << ", byte_offset " << placement.byte_offset);
      @make_typed_tensors@
      @op@(@call@);
      ASSERT_EQ(this->device_.faults(), "");
      for (int64_t i = 0; i < count; ++i) {
        // Write it here: what the result must be.
        ASSERT_EQ(kernkit::testing::decode(@output@[i]), 0) << i;
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

TEST_F(@Op@Rejects, Layout) {
  @first@.dl()->strides[0] = 4;
  EXPECT_EQ(error(), "ValueError: @first@: must be contiguous; shape [2, 3] has strides [4, 1]");
}

}  // namespace
}  // namespace @library@
