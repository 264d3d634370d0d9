// SPDX-License-Identifier: Apache-2.0
#include "scale/scale.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "kernkit/testing/tensor.h"

#if defined(KERNKIT_WITH_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace kernkit::kernels {
namespace {

using testing::error_of;
using testing::fill_random_bits;
using testing::has_bits_of;
using testing::HostTensor;
using testing::kPlacements;
using testing::kShapes;
using testing::Placement;

template <class T>
class Scale : public ::testing::Test {
 protected:
  using Compute = compute_t<T>;

  // Returns the expected result after the roundings documented in scale.h: the factor and the
  // product are rounded to the type of the arithmetic, and the result to T. double holds the exact
  // product.
  static T expected(T x, double factor) {
    const double narrowed = testing::decode(testing::round_to<Compute>(factor));
    const double product = testing::decode(x) * narrowed;
    return testing::round_to<T>(testing::decode(testing::round_to<Compute>(product)));
  }
  static int64_t first_wrong(HostTensor<T>& y, const std::vector<T>& x, double factor) {
    return testing::first_difference(
        y.size(), [&](int64_t i) { return y[i]; },
        [&](int64_t i) { return expected(x[static_cast<size_t>(i)], factor); });
  }
};
using Types = ::testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(Scale, Types, );

TYPED_TEST(Scale, EveryShapeAndPlacement) {
  for (const std::vector<int64_t>& shape : kShapes) {
    for (const Placement& placement : kPlacements) {
      SCOPED_TRACE(::testing::Message()
                   << ::testing::PrintToString(shape) << ", first " << placement.first
                   << ", byte_offset " << placement.byte_offset);
      HostTensor<TypeParam> x(shape, placement);
      HostTensor<TypeParam> y(shape, placement, TypeParam(77.0f));
      fill_random_bits(x, 1);
      const std::vector<TypeParam> before(x.begin(), x.end());
      scale(y.view("y"), x.view("x"), -0.7);
      EXPECT_EQ(this->first_wrong(y, before, -0.7), -1);
      EXPECT_TRUE(has_bits_of(x, before)) << "x was written";
      EXPECT_TRUE(y.intact());
      EXPECT_TRUE(x.intact());
    }
  }
}

TYPED_TEST(Scale, InPlace) {
  for (const Placement& placement : kPlacements) {
    HostTensor<TypeParam> x({4096 + 3}, placement);
    fill_random_bits(x, 1);
    const std::vector<TypeParam> before(x.begin(), x.end());
    scale(x.view("y"), x.view("x"), 3.1);
    EXPECT_EQ(this->first_wrong(x, before, 3.1), -1);
    EXPECT_TRUE(x.intact());
  }
}

TYPED_TEST(Scale, SpecialValues) {
  using Limits = std::numeric_limits<compute_t<TypeParam>>;
  std::vector<TypeParam> values;
  for (const auto value :
       {compute_t<TypeParam>(0), compute_t<TypeParam>(1), Limits::infinity(), Limits::quiet_NaN(),
        Limits::max(), Limits::min(), Limits::denorm_min(), compute_t<TypeParam>(65504),
        compute_t<TypeParam>(0x1p-24), compute_t<TypeParam>(0x1.ffp-15)}) {
    values.push_back(TypeParam(value));
    values.push_back(TypeParam(-value));
  }
  const double kInf = std::numeric_limits<double>::infinity();
  for (const double factor : {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 0x1p-20, 1e30, 1e300, 1e-300, kInf,
                              -kInf, std::numeric_limits<double>::quiet_NaN()}) {
    HostTensor<TypeParam> x({static_cast<int64_t>(values.size())});
    HostTensor<TypeParam> y({x.size()}, {}, TypeParam(77.0f));
    std::copy(values.begin(), values.end(), x.begin());
    scale(y.view("y"), x.view("x"), factor);
    EXPECT_EQ(this->first_wrong(y, values, factor), -1) << "factor " << factor;
  }
}

// Tests all 2^16 bit patterns of the 16-bit types.
TEST(ScaleFloat16, EveryElement) {
  HostTensor<float16> x({1 << 16}), y({1 << 16});
  for (int64_t i = 0; i < x.size(); ++i)
    x[i] = testing::copy_bits<float16>(static_cast<uint16_t>(i));
  for (const double factor : {0.1, -3.0}) {
    scale(y.view("y"), x.view("x"), factor);
    for (int64_t i = 0; i < x.size(); ++i) {
      const double product =
          testing::decode(x[i]) * static_cast<double>(static_cast<float>(factor));
      const auto rounded = static_cast<double>(static_cast<float>(product));
      ASSERT_TRUE(testing::same_bits(y[i], testing::round_to<float16>(rounded))) << i;
    }
  }
}

// Two valid tensors, one of which a test makes invalid.
class ScaleRejects : public ::testing::Test {
 protected:
  std::string error() {
    const std::string text = error_of([&] { scale(y.view("y"), x.view("x"), 2.0); });
    for (const float value : y) EXPECT_EQ(value, 7.0f) << "y was changed";
    for (const float value : x) EXPECT_EQ(value, 5.0f) << "x was changed";
    EXPECT_TRUE(y.intact() && x.intact());
    return text;
  }
  std::string partial_overlap() {
    return (Message().stream() << "ValueError: y: partially overlaps x in memory (" << y.view("y")
                               << " at " << y.view("y").data_ptr() << ", " << x.view("x") << " at "
                               << x.view("x").data_ptr() << ")")
        .c_str();
  }

  HostTensor<float> y{{2, 3}, {}, 7.0f};
  HostTensor<float> x{{2, 3}, {}, 5.0f};
};

TEST_F(ScaleRejects, NothingThatFits) {
  EXPECT_EQ(error_of([&] { scale(y.view("y"), x.view("x"), 2.0); }), "nothing");
  for (const float value : y) EXPECT_EQ(value, 10.0f);
}

TEST_F(ScaleRejects, Dtype) {
  x.dl()->dtype = y.dl()->dtype = dl_int32;
  EXPECT_EQ(error(),
            "TypeError: x: dtype int32 is not supported; expected float16, bfloat16, float32 or "
            "float64");
}

TEST_F(ScaleRejects, Lanes) {
  x.dl()->dtype.lanes = y.dl()->dtype.lanes = 2;
  EXPECT_EQ(
      error(),
      "TypeError: x: dtype float32x2 is not supported; expected float16, bfloat16, float32 or "
      "float64");
}

TEST_F(ScaleRejects, MixedDtypes) {
  y.dl()->dtype = dl_float16;
  EXPECT_EQ(error(), "TypeError: y: dtype float16 does not match x (float32)");
}

TEST_F(ScaleRejects, Device) {
  x.dl()->device = y.dl()->device = {kDLROCM, 0};
  EXPECT_EQ(error(), "ValueError: x: device rocm:0 is not supported; expected cpu or cuda");
}

TEST_F(ScaleRejects, MixedDevices) {
  y.dl()->device = {kDLCUDA, 0};
  EXPECT_EQ(error(), "ValueError: y: device cuda:0 does not match x (cpu)");
}

TEST_F(ScaleRejects, Shape) {
  y.dl()->shape[1] = 2;
  EXPECT_EQ(error(), "ValueError: y: shape [2, 2] does not match x ([2, 3])");
}

// Tensors with the same number of elements and different ranks are rejected.
TEST_F(ScaleRejects, Rank) {
  y.dl()->ndim = 1;
  y.dl()->shape[0] = 6;
  EXPECT_EQ(error(), "ValueError: y: shape [6] does not match x ([2, 3])");
}

TEST_F(ScaleRejects, EmptyForScalar) {
  y.dl()->ndim = x.dl()->ndim = 1;
  y.dl()->shape[0] = 0;
  x.dl()->shape[0] = 1;
  EXPECT_EQ(error(), "ValueError: y: shape [0] does not match x ([1])");
}

TEST_F(ScaleRejects, ShapeBeyondInt64) {
  for (DLTensor* tensor : {x.dl(), y.dl()}) {
    tensor->strides = nullptr;
    tensor->shape[0] = tensor->shape[1] = int64_t{1} << 40;
  }
  EXPECT_EQ(error(),
            "ValueError: y: shape [1099511627776, 1099511627776] has a negative size or more than "
            "2^63 - 1 elements");
}

TEST_F(ScaleRejects, LayoutOfX) {
  x.dl()->strides[0] = 1;
  x.dl()->strides[1] = 2;
  EXPECT_EQ(error(), "ValueError: x: must be contiguous; shape [2, 3] has strides [1, 2]");
}

TEST_F(ScaleRejects, LayoutOfY) {
  y.dl()->strides[0] = 4;
  EXPECT_EQ(error(), "ValueError: y: must be contiguous; shape [2, 3] has strides [4, 1]");
}

TEST_F(ScaleRejects, PartialOverlap) {
  y.dl()->data = &x[1];
  EXPECT_EQ(error(), partial_overlap());
  y.dl()->data = &x[-1];
  EXPECT_EQ(error(), partial_overlap());
  y.dl()->data = &x[5];
  EXPECT_EQ(error(), partial_overlap());
  y.dl()->data = x.dl()->data;
  y.dl()->byte_offset = 4;
  EXPECT_EQ(error(), partial_overlap());
}

TEST_F(ScaleRejects, NeighboursAreNoOverlap) {
  HostTensor<float> both({12}, {}, 5.0f);
  x.dl()->data = both.begin();
  y.dl()->data = &both[6];
  EXPECT_EQ(error_of([&] { scale(y.view("y"), x.view("x"), 2.0); }), "nothing");
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(both[i], i < 6 ? 5.0f : 10.0f);
}

// Empty tensors are checked like tensors with elements.
TEST_F(ScaleRejects, EmptyOfAnotherDtype) {
  x.dl()->shape[0] = y.dl()->shape[0] = 0;
  y.dl()->dtype = dl_float64;
  EXPECT_EQ(error(), "TypeError: y: dtype float64 does not match x (float32)");
}

TEST_F(ScaleRejects, EmptyNeedsNoData) {
  x.dl()->shape[0] = y.dl()->shape[0] = 0;
  x.dl()->data = y.dl()->data = nullptr;
  EXPECT_EQ(error(), "nothing");
}

#if defined(KERNKIT_WITH_CUDA)

// The tensors are in CPU memory, and only their DLTensors name a CUDA device. The test is skipped
// if a CUDA device exists, because the kernel would access the tensors.
TEST_F(ScaleRejects, CudaWithoutADevice) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
    GTEST_SKIP() << "this machine has a CUDA device";
  }
  x.dl()->device = y.dl()->device = {kDLCUDA, 0};
  const std::string text = error();
  EXPECT_EQ(text.find("RuntimeError: cuda"), 0u) << text;
  EXPECT_NE(text.find(" failed: cudaError"), std::string::npos) << text;
}

TEST_F(ScaleRejects, CudaDeviceThatDoesNotExist) {
  x.dl()->device = y.dl()->device = {kDLCUDA, 1000};
  const std::string text = error();
  EXPECT_EQ(text.find("RuntimeError: cuda"), 0u) << text;
  EXPECT_NE(text.find(" failed: cudaError"), std::string::npos) << text;
}

#else

TEST_F(ScaleRejects, CudaInACpuBuild) {
  x.dl()->device = y.dl()->device = {kDLCUDA, 0};
  EXPECT_EQ(error(),
            "RuntimeError: x: is on cuda:0, but this library was built without CUDA; rebuild it "
            "where nvcc is found, or pass CPU tensors");
}

#endif

}  // namespace
}  // namespace kernkit::kernels
