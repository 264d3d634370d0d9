// SPDX-License-Identifier: Apache-2.0
#include "add/add.h"

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
class Add : public ::testing::Test {
 protected:
  // Returns the expected sum. Integers wrap. Floats are added in double and then rounded as
  // documented in add.h, to the type of the arithmetic and to T. double has more than twice the
  // digits of float32, so the rounding to double does not change the next rounding.
  static T expected(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
    } else {
      const double sum = testing::decode(x) + testing::decode(y);
      return testing::round_to<T>(testing::decode(testing::round_to<compute_t<T>>(sum)));
    }
  }
  static int64_t first_wrong(HostTensor<T>& z, const std::vector<T>& x, const std::vector<T>& y) {
    return testing::first_difference(
        z.size(), [&](int64_t i) { return z[i]; },
        [&](int64_t i) { return expected(x[static_cast<size_t>(i)], y[static_cast<size_t>(i)]); });
  }
};
using Types =
    ::testing::Types<float16, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t>;
TYPED_TEST_SUITE(Add, Types, );

TYPED_TEST(Add, EveryShapeAndPlacement) {
  for (const std::vector<int64_t>& shape : kShapes) {
    for (const Placement& placement : kPlacements) {
      SCOPED_TRACE(::testing::Message()
                   << ::testing::PrintToString(shape) << ", first " << placement.first
                   << ", byte_offset " << placement.byte_offset);
      HostTensor<TypeParam> x(shape, placement), y(shape);
      HostTensor<TypeParam> z(shape, placement, TypeParam(77));
      const auto x_before = fill_random_bits(x, 1);
      const auto y_before = fill_random_bits(y, 2);
      add(z.view("z"), x.view("x"), y.view("y"));
      EXPECT_EQ(this->first_wrong(z, x_before, y_before), -1);
      EXPECT_TRUE(has_bits_of(x, x_before)) << "x was written";
      EXPECT_TRUE(has_bits_of(y, y_before)) << "y was written";
      EXPECT_TRUE(z.intact() && x.intact() && y.intact());
    }
  }
}

TYPED_TEST(Add, InPlace) {
  for (const Placement& placement : kPlacements) {
    HostTensor<TypeParam> x({4096 + 3}, placement), y({4096 + 3}, placement);
    const auto x_before = fill_random_bits(x, 1);
    const auto y_before = fill_random_bits(y, 2);
    add(x.view("z"), x.view("x"), y.view("y"));
    EXPECT_EQ(this->first_wrong(x, x_before, y_before), -1) << "z is x";

    fill_random_bits(x, 1);
    add(y.view("z"), x.view("x"), y.view("y"));
    EXPECT_EQ(this->first_wrong(y, x_before, y_before), -1) << "z is y";

    fill_random_bits(y, 2);
    add(y.view("z"), x.view("x"), x.view("y"));
    EXPECT_EQ(this->first_wrong(y, x_before, x_before), -1) << "x is y";

    add(x.view("z"), x.view("x"), x.view("y"));
    EXPECT_EQ(this->first_wrong(x, x_before, x_before), -1) << "all are one";
    EXPECT_TRUE(x.intact() && y.intact());
  }
}

// Tests all pairs of special values. An integer overflow wraps, and a float overflow gives
// infinity.
TYPED_TEST(Add, SpecialValues) {
  using C = compute_t<TypeParam>;
  using Limits = std::numeric_limits<C>;
  std::vector<TypeParam> values;
  for (const C value : {C(0), C(1), C(2), Limits::max(), Limits::lowest(), Limits::min(),
                        Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN(), C(100)}) {
    values.push_back(TypeParam(value));
    if constexpr (std::is_integral_v<TypeParam>) {
      values.push_back(static_cast<TypeParam>(~value));
    } else {
      values.push_back(TypeParam(-value));
    }
  }
  if constexpr (sizeof(TypeParam) == 2 && !std::is_integral_v<TypeParam>) {
    // Some sums of these values are near the largest number plus half a step, at which rounding
    // starts to give infinity.
    for (const float value : {65504.0f, 16.0f, 15.99f, 0x1p-24f, 0x1.fep127f, 0x1p119f}) {
      values.push_back(TypeParam(value));
    }
  }
  std::vector<TypeParam> x_values, y_values;
  for (const TypeParam& a : values) {
    for (const TypeParam& b : values) {
      x_values.push_back(a);
      y_values.push_back(b);
    }
  }
  HostTensor<TypeParam> x({static_cast<int64_t>(x_values.size())}), y({x.size()}), z({x.size()});
  std::copy(x_values.begin(), x_values.end(), x.begin());
  std::copy(y_values.begin(), y_values.end(), y.begin());
  add(z.view("z"), x.view("x"), y.view("y"));
  const int64_t i = this->first_wrong(z, x_values, y_values);
  EXPECT_EQ(i, -1) << testing::decode(x[i < 0 ? 0 : i]) << " + "
                   << testing::decode(y[i < 0 ? 0 : i]);
}

TEST(AddInt8, Wraps) {
  HostTensor<int8_t> x({2}), y({2}, {}, int8_t{1}), z({2});
  x[0] = 127;
  x[1] = -1;
  add(z.view("z"), x.view("x"), y.view("y"));
  EXPECT_EQ(z[0], -128);
  EXPECT_EQ(z[1], 0);
}

// Three valid tensors, one of which a test makes invalid.
class AddRejects : public ::testing::Test {
 protected:
  std::string error() {
    const std::string text = error_of([&] { add(z.view("z"), x.view("x"), y.view("y")); });
    for (const float value : z) EXPECT_EQ(value, 7.0f) << "z was changed";
    for (const float value : x) EXPECT_EQ(value, 5.0f) << "x was changed";
    for (const float value : y) EXPECT_EQ(value, 3.0f) << "y was changed";
    EXPECT_TRUE(z.intact() && x.intact() && y.intact());
    return text;
  }
  std::string partial_overlap(const TensorView& other) {
    return (Message().stream() << "ValueError: z: partially overlaps " << other.name()
                               << " in memory (" << z.view("z") << " at " << z.view("z").data_ptr()
                               << ", " << other << " at " << other.data_ptr() << ")")
        .c_str();
  }

  HostTensor<float> z{{2, 3}, {}, 7.0f};
  HostTensor<float> x{{2, 3}, {}, 5.0f};
  HostTensor<float> y{{2, 3}, {}, 3.0f};
};

TEST_F(AddRejects, NothingThatFits) {
  EXPECT_EQ(error_of([&] { add(z.view("z"), x.view("x"), y.view("y")); }), "nothing");
  for (const float value : z) EXPECT_EQ(value, 8.0f);
}

TEST_F(AddRejects, Dtype) {
  x.dl()->dtype = y.dl()->dtype = z.dl()->dtype = dl_bool;
  EXPECT_EQ(error(),
            "TypeError: x: dtype bool is not supported; expected float16, bfloat16, float32, "
            "float64, int8, int16, int32, int64 or uint8");
}

TEST_F(AddRejects, MixedDtypes) {
  y.dl()->dtype = dl_int32;
  EXPECT_EQ(error(), "TypeError: y: dtype int32 does not match x (float32)");
  y.dl()->dtype = dl_float32;
  z.dl()->dtype = dl_float64;
  EXPECT_EQ(error(), "TypeError: z: dtype float64 does not match x (float32)");
}

TEST_F(AddRejects, Device) {
  x.dl()->device = {kDLMetal, 0};
  EXPECT_EQ(error(), "ValueError: x: device metal:0 is not supported; expected cpu or cuda");
}

TEST_F(AddRejects, MixedDevices) {
  y.dl()->device = {kDLCUDA, 1};
  EXPECT_EQ(error(), "ValueError: y: device cuda:1 does not match x (cpu)");
  y.dl()->device = {kDLCPU, 0};
  z.dl()->device = {kDLCUDA, 1};
  EXPECT_EQ(error(), "ValueError: z: device cuda:1 does not match x (cpu)");
}

TEST_F(AddRejects, Shape) {
  y.dl()->shape[0] = 1;  // no broadcasting
  EXPECT_EQ(error(), "ValueError: y: shape [1, 3] does not match x ([2, 3])");
  y.dl()->shape[0] = 2;
  z.dl()->shape[1] = 2;
  EXPECT_EQ(error(), "ValueError: z: shape [2, 2] does not match x ([2, 3])");
}

TEST_F(AddRejects, Rank) {
  y.dl()->ndim = 0;
  EXPECT_EQ(error(), "ValueError: y: shape [] does not match x ([2, 3])");
}

TEST_F(AddRejects, ShapeBeyondInt64) {
  for (DLTensor* tensor : {x.dl(), y.dl(), z.dl()}) {
    tensor->strides = nullptr;
    tensor->shape[0] = -2;
  }
  EXPECT_EQ(error(),
            "ValueError: z: shape [-2, 3] has a negative size or more than 2^63 - 1 elements");
}

TEST_F(AddRejects, Layout) {
  x.dl()->strides[1] = 0;
  EXPECT_EQ(error(), "ValueError: x: must be contiguous; shape [2, 3] has strides [3, 0]");
  x.dl()->strides[1] = 1;
  y.dl()->strides[0] = -3;
  EXPECT_EQ(error(), "ValueError: y: must be contiguous; shape [2, 3] has strides [-3, 1]");
  y.dl()->strides[0] = 3;
  z.dl()->strides[0] = 4;
  EXPECT_EQ(error(), "ValueError: z: must be contiguous; shape [2, 3] has strides [4, 1]");
}

TEST_F(AddRejects, PartialOverlap) {
  z.dl()->data = &x[1];
  EXPECT_EQ(error(), partial_overlap(x.view("x")));
  z.dl()->data = &y[-1];
  EXPECT_EQ(error(), partial_overlap(y.view("y")));
  z.dl()->data = y.dl()->data;
  z.dl()->byte_offset = 4;
  EXPECT_EQ(error(), partial_overlap(y.view("y")));
}

// Inputs may overlap each other, because they are only read.
TEST_F(AddRejects, NotInputsThatOverlap) {
  HostTensor<float> both({7}, {}, 5.0f);
  x.dl()->data = both.begin();
  y.dl()->data = &both[1];
  EXPECT_EQ(error_of([&] { add(z.view("z"), x.view("x"), y.view("y")); }), "nothing");
  for (const float value : z) EXPECT_EQ(value, 10.0f);
}

TEST_F(AddRejects, EmptyNeedsNoData) {
  for (DLTensor* tensor : {x.dl(), y.dl(), z.dl()}) {
    tensor->shape[1] = 0;
    tensor->data = nullptr;
  }
  EXPECT_EQ(error(), "nothing");
}

#if defined(KERNKIT_WITH_CUDA)

// The tensors are in CPU memory, and only their DLTensors name a CUDA device. The test is skipped
// if a CUDA device exists, because the kernel would access the tensors.
TEST_F(AddRejects, CudaWithoutADevice) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
    GTEST_SKIP() << "this machine has a CUDA device";
  }
  x.dl()->device = y.dl()->device = z.dl()->device = {kDLCUDA, 0};
  const std::string text = error();
  EXPECT_EQ(text.find("RuntimeError: cuda"), 0u) << text;
  EXPECT_NE(text.find(" failed: cudaError"), std::string::npos) << text;
}

TEST_F(AddRejects, CudaDeviceThatDoesNotExist) {
  x.dl()->device = y.dl()->device = z.dl()->device = {kDLCUDA, 1000};
  const std::string text = error();
  EXPECT_EQ(text.find("RuntimeError: cuda"), 0u) << text;
  EXPECT_NE(text.find(" failed: cudaError"), std::string::npos) << text;
}

#else

TEST_F(AddRejects, CudaInACpuBuild) {
  x.dl()->device = y.dl()->device = z.dl()->device = {kDLCUDA, 0};
  EXPECT_EQ(error(),
            "RuntimeError: x: is on cuda:0, but this library was built without CUDA; rebuild it "
            "where nvcc is found, or pass CPU tensors");
}

#endif

}  // namespace
}  // namespace kernkit::kernels
