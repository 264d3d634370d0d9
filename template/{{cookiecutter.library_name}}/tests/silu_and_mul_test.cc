// SPDX-License-Identifier: Apache-2.0
#include "silu_and_mul/silu_and_mul.h"

#include <gtest/gtest.h>

#include <string>

#include "kernkit/testing/contract.h"
//@ if frameworks
#include "kernkit/testing/line.h"
//@ end
#include "kernkit/testing/test_device.h"
#include "silu_and_mul/silu_and_mul_reference.h"
//@ if cuda
#if defined(KERNKIT_ON_FIBERS)
#include "kernkit/testing/cuda_tensor.h"
#endif
//@ end

namespace template_library {
namespace {

using kernkit::testing::Placement;
using kernkit::testing::TestDevice;
using kernkit::testing::TestTensor;

//@ if cuda
// Tests the CPU code and, in template_library_cuda_test, the CUDA kernel in the simulator.
//@ end
class SiluAndMul : public ::testing::Test {
 protected:
  ~SiluAndMul() override { EXPECT_EQ(device_.faults(), ""); }

  template <class T>
  void check_values() {
    const int64_t shapes[][2] = {{0, 3},  {3, 0},    {1, 1},    {7, 5},           {3, 32},
                                 {3, 33}, {65, 129}, {2, 1024}, {2, 2 * 1024 + 3}};
    const Placement placements[] = {{0, 0, false}, {1, 0, false}, {0, 64, false}, {3, 16, true}};
    for (const auto& [n, d] : shapes) {
      for (const Placement& placement : placements) {
        SCOPED_TRACE(::testing::Message()
                     << "n = " << n << ", d = " << d << ", first " << placement.first
                     << ", byte_offset " << placement.byte_offset);
        TestTensor<T> x({n, 2 * d}, placement);
        TestTensor<T> y({n, d}, placement, quiet_nan<T>());
        fill_random(x);
        silu_and_mul(y.view("y"), x.view("x"));
        ASSERT_EQ(device_.faults(), "");
        EXPECT_EQ(first_wrong(y, x, d), -1);
        EXPECT_TRUE(y.intact());
      }
    }
  }

  template <class T>
  double value_of(double gate, double up) {
    TestTensor<T> x({1, 2});
    TestTensor<T> y({1, 1});
    x[0] = T(static_cast<kernkit::compute_t<T>>(gate));
    x[1] = T(static_cast<kernkit::compute_t<T>>(up));
    silu_and_mul(y.view("y"), x.view("x"));
    EXPECT_EQ(device_.faults(), "");
    return static_cast<double>(widen(y[0]));
  }

  template <class T>
  void check_special_values() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    // exp(1000) overflows to infinity. A number divided by infinity is zero, with the sign of the
    // product.
    EXPECT_EQ(value_of<T>(-1000, 2), 0);
    EXPECT_TRUE(std::signbit(value_of<T>(-1000, 2)));
    EXPECT_FALSE(std::signbit(value_of<T>(-1000, -2)));
    EXPECT_EQ(value_of<T>(1000, 2), 2000);
    EXPECT_EQ(value_of<T>(0, 2), 0);
    EXPECT_EQ(value_of<T>(kInf, 2), kInf);
    EXPECT_EQ(value_of<T>(1, -kInf), -kInf);
    EXPECT_TRUE(std::isnan(value_of<T>(-kInf, 2)));
    EXPECT_TRUE(std::isnan(value_of<T>(0, kInf)));
    EXPECT_TRUE(std::isnan(value_of<T>(kNan, 2)));
    EXPECT_TRUE(std::isnan(value_of<T>(1, kNan)));
  }

  TestDevice device_;
};

TEST_F(SiluAndMul, Float16) { check_values<kernkit::float16>(); }
TEST_F(SiluAndMul, Bfloat16) { check_values<kernkit::bfloat16>(); }
TEST_F(SiluAndMul, Float32) { check_values<float>(); }
TEST_F(SiluAndMul, Float64) { check_values<double>(); }

TEST_F(SiluAndMul, SpecialValues) {
  check_special_values<kernkit::float16>();
  check_special_values<kernkit::bfloat16>();
  check_special_values<float>();
  check_special_values<double>();
}

// Tests that only the last rounding turns a result above float16's largest number, 65504, into
// infinity.
TEST_F(SiluAndMul, ArithmeticIsWiderThanFloat16) {
  EXPECT_EQ(value_of<kernkit::float16>(60000, 2), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(value_of<kernkit::float16>(-12, 60000), -12 / (1 + std::exp(12.0)) * 60000, 0.004);
}

//@ if cuda
#if defined(KERNKIT_ON_FIBERS)
// Tests tensors of more than 2^32 elements. The simulator allocates only pages that are accessed,
// and runs only some of the blocks, including the first and the last block.
class SiluAndMulLarge : public SiluAndMul {
 protected:
  // Checks that the elements of y in `elements` have the expected values and that all other
  // elements are zero.
  void check(int64_t n, int64_t d, const std::vector<int64_t>& elements) {
    using T = kernkit::float16;
    kernkit::testing::CudaTensor<T> y({n, d}), x({n, 2 * d});
    T* out = y.view("y").data<T>();
    T* in = x.view("x").data<T>();
    const auto gate_of = [&](int64_t i) { return in + i / d * 2 * d + i % d; };
    float up = 1;
    for (const int64_t i : elements) {
      copy(gate_of(i), T(2.0f));
      copy(gate_of(i) + d, T(up++));
    }
    silu_and_mul(y.view("y"), x.view("x"));
    EXPECT_EQ(device_.faults(), "");
    up = 1;
    for (const int64_t i : elements) {
      T result;
      KERNKIT_CUDA_CHECK(cudaMemcpy(&result, out + i, sizeof(T), cudaMemcpyDeviceToHost));
      const long double exact = 2 / (1 + std::exp(-2.0L)) * up++;
      EXPECT_LE(std::fabs(widen(result) - exact), tolerance<T>(exact)) << "element " << i;
    }
  }

 private:
  static void copy(kernkit::float16* to, kernkit::float16 value) {
    KERNKIT_CUDA_CHECK(cudaMemcpy(to, &value, sizeof(value), cudaMemcpyHostToDevice));
  }
};

TEST_F(SiluAndMulLarge, Rows) {
  const int64_t n = (int64_t{1} << 22) + 1;
  check(n, 1024, {0, 1023, 1024, (n - 1) * 1024 - 1, (n - 1) * 1024, n * 1024 - 1});
}

TEST_F(SiluAndMulLarge, Columns) {
  const int64_t d = (int64_t{1} << 32) + 5;
  check(1, d, {0, 1023, 1024, d - 6, d - 5, d - 1});
  check(2, d, {0, d - 1, d, 2 * d - 1});
}

// Tests that blocks compute a second tile if a call has more tiles than a grid can have blocks.
TEST_F(SiluAndMulLarge, Tiles) {
  const int64_t n = (int64_t{1} << 31) + 1;
  check(n, 1, {0, 1, n - 3, n - 2, n - 1});
}
#endif

//@ end
// Two valid tensors; each test makes one of them invalid.
class SiluAndMulRejects : public ::testing::Test {
 protected:
  std::string error() {
    return kernkit::testing::error_of([&] { silu_and_mul(y_.view("y"), x_.view("x")); });
  }

  TestDevice device_;
  TestTensor<float> y_{{2, 3}};
  TestTensor<float> x_{{2, 6}};
};

TEST_F(SiluAndMulRejects, Nothing) { EXPECT_EQ(error(), "nothing"); }

TEST_F(SiluAndMulRejects, Dtype) {
  y_.dl()->dtype = kernkit::dl_int32;
  EXPECT_EQ(error(),
            "TypeError: y: dtype int32 is not supported; expected float16, bfloat16, float32 or "
            "float64");
}

TEST_F(SiluAndMulRejects, MixedDtypes) {
  x_.dl()->dtype = kernkit::dl_bfloat16;
  EXPECT_EQ(error(), "TypeError: x: dtype bfloat16 does not match y (float32)");
}

//@ if cuda
TEST_F(SiluAndMulRejects, Device) {
  y_.dl()->device = {kDLROCM, 0};
  EXPECT_EQ(error(), "ValueError: y: device rocm:0 is not supported; expected cpu or cuda");
}

TEST_F(SiluAndMulRejects, CudaInACpuBuild) {
  if (kernkit::kWithCuda) GTEST_SKIP() << "this build has CUDA";
  y_.dl()->device = {kDLCUDA, 1};
  EXPECT_EQ(error(),
            "RuntimeError: y: is on cuda:1, but this library was built without CUDA; rebuild it "
            "where nvcc is found, or pass CPU tensors");
}

TEST_F(SiluAndMulRejects, MixedDevices) {
  y_.dl()->device = {kDLCPU, 0};
  x_.dl()->device = {kDLCUDA, 0};
  EXPECT_EQ(error(), "ValueError: x: device cuda:0 does not match y (cpu)");
}
//@ else
//: TEST_F(SiluAndMulRejects, Device) {
//:   y_.dl()->device = {kDLCUDA, 0};
//:   EXPECT_EQ(error(), "ValueError: y: device cuda:0 is not supported; expected cpu");
//: }
//@ end

TEST_F(SiluAndMulRejects, RankOfY) {
  y_.dl()->ndim = 1;
  EXPECT_EQ(error(), "ValueError: y: shape [2] does not match [n, d]");
}

TEST_F(SiluAndMulRejects, RankOfX) {
  x_.dl()->ndim = 1;
  EXPECT_EQ(error(),
            "ValueError: x: shape [2] does not match [n, 2 * d] with n = 2 (bound by y), d = 3 "
            "(bound by y)");
}

TEST_F(SiluAndMulRejects, RowsOfX) {
  x_.dl()->shape[0] = 1;
  EXPECT_EQ(error(),
            "ValueError: x: shape [1, 6] does not match [n, 2 * d] with n = 2 (bound by y), d = 3 "
            "(bound by y)");
}

TEST_F(SiluAndMulRejects, ColumnsOfX) {
  x_.dl()->shape[1] = 5;
  EXPECT_EQ(error(),
            "ValueError: x: shape [2, 5] does not match [n, 2 * d] with n = 2 (bound by y), d = 3 "
            "(bound by y)");
}

TEST_F(SiluAndMulRejects, LayoutOfY) {
  y_.dl()->strides[1] = 2;
  EXPECT_EQ(error(), "ValueError: y: must be contiguous; shape [2, 3] has strides [3, 2]");
}

TEST_F(SiluAndMulRejects, LayoutOfX) {
  x_.dl()->strides[0] = 8;
  EXPECT_EQ(error(), "ValueError: x: must be contiguous; shape [2, 6] has strides [8, 1]");
}

TEST_F(SiluAndMulRejects, Overlap) {
  y_.dl()->data = &x_[6];
  kernkit::Message expected;
  expected << "ValueError: y: overlaps x in memory (" << y_.view("y") << " at " << y_.dl()->data
           << ", " << x_.view("x") << " at " << x_.dl()->data << ")";
  EXPECT_EQ(error(), expected.c_str());
}

}  // namespace
}  // namespace template_library

// Tests that silu_and_mul keeps the rules for all ops: varies this call by layouts, overlaps, wrong
// arguments and more.
//@ if cuda
// In template_library_cuda_test, also tests on CUDA: streams, devices and launches that fail.
//@ end
KERNKIT_TEST_CONTRACT(silu_and_mul, example<float>(4, 37), example<float>(4, 74))
//@ if frameworks
KERNKIT_TEST_LINE(silu_and_mul, example<float>(4, 37), example<float>(4, 74))
//@ end
