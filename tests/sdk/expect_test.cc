// SPDX-License-Identifier: Apache-2.0
// Compiled twice: as in a library without CUDA, and with KERNKIT_WITH_CUDA defined.
#include "kernkit/expect.h"

#include <gtest/gtest.h>

#include "kernkit/check_macros.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;
using testing::HostTensor;

constexpr DLDevice kCuda1 = {kDLCUDA, 1};
constexpr char kWithoutCuda[] =
    "RuntimeError: x: is on cuda:1, but this library was built without CUDA; rebuild it where nvcc "
    "is found, or pass CPU tensors";

class ExpectTest : public ::testing::Test {
 protected:
  HostTensor<float> x_tensor{{4, 8}};
  HostTensor<float> y_tensor{{4, 8}};
  TensorView x = x_tensor.view("x");
  TensorView y = y_tensor.view("y");
  DLTensor* dx = x_tensor.dl();
  DLTensor* dy = y_tensor.dl();
};

TEST_F(ExpectTest, DtypeOfList) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(floating{}); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<int32_t>{}); }),
            "TypeError: x: dtype float32 is not supported; expected int32");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<int8_t, float16>{}); }),
            "TypeError: x: dtype float32 is not supported; expected int8 or float16");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(integral{}); }),
            "TypeError: x: dtype float32 is not supported; expected int8, int16, int32, int64 or "
            "uint8");
  dx->dtype.lanes = 4;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}); }),
            "TypeError: x: dtype float32x4 is not supported; expected float32");
  dx->dtype = {99, 7, 1};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}); }),
            "TypeError: x: dtype dtype(code=99, bits=7) is not supported; expected float32");
}

TEST_F(ExpectTest, DtypeOfValue) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(dl_float32); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(dl_float16); }),
            "TypeError: x: dtype float32 is not supported; expected float16");
}

TEST_F(ExpectTest, Rank) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).rank(2); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).rank(3); }),
            "ValueError: x: shape [4, 8] has rank 2; expected rank 3");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).rank(0); }),
            "ValueError: x: shape [4, 8] has rank 2; expected rank 0");
}

TEST_F(ExpectTest, ShapeOfNumbers) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 8); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(int64_t{4}, 8u); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 9); }),
            "ValueError: x: shape [4, 8] does not match [4, 9]");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(5, 8); }),
            "ValueError: x: shape [4, 8] does not match [5, 8]");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4); }),
            "ValueError: x: shape [4, 8] does not match [4]");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 8, 1); }),
            "ValueError: x: shape [4, 8] does not match [4, 8, 1]");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(); }),
            "ValueError: x: shape [4, 8] does not match []");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(-1, 8); }),
            "ValueError: x: shape [4, 8] does not match [-1, 8]");
}

TEST_F(ExpectTest, ShapeOfRankZero) {
  HostTensor<float> scalar({});
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(scalar.view("s")).shape(); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(scalar.view("s")).shape(1); }),
            "ValueError: s: shape [] does not match [1]");
}

TEST_F(ExpectTest, DimBindsThenCompares) {
  Dim n("n"), d("d");
  EXPECT_FALSE(n.is_bound());
  EXPECT_EQ(n.bound_by(), nullptr);
  KERNKIT_EXPECT(x).shape(n, d);
  EXPECT_TRUE(n.is_bound());
  EXPECT_EQ(n.value(), 4);
  EXPECT_EQ(d.value(), 8);
  EXPECT_STREQ(n.bound_by(), "x");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, d); }), "nothing");
  dy->shape[0] = 5;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, d); }),
            "ValueError: y: shape [5, 8] does not match [n, d] with n = 4 (bound by x), d = 8 "
            "(bound by x)");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n); }),
            "ValueError: y: shape [5, 8] does not match [n] with n = 4 (bound by x)");
  EXPECT_EQ(n.value(), 4) << "a comparison does not bind again";
}

// "Unbound" is not a size: neither 0 nor -1 stands for it.
TEST_F(ExpectTest, DimBoundToZeroStaysZero) {
  Dim n("n");
  dx->shape[0] = 0;
  KERNKIT_EXPECT(x).shape(n, 8);
  EXPECT_TRUE(n.is_bound());
  EXPECT_EQ(n.value(), 0);
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, 8); }),
            "ValueError: y: shape [4, 8] does not match [n, 8] with n = 0 (bound by x)");
}

TEST_F(ExpectTest, DimWithinOneShape) {
  Dim n("n");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(n, 7); }),
            "ValueError: x: shape [4, 8] does not match [n, 7] with n = 4");
  Dim m("m");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(7, m); }),
            "ValueError: x: shape [4, 8] does not match [7, m]");
  HostTensor<float> square({3, 3});
  Dim s("s");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(square.view("square")).shape(s, s); }), "nothing");
}

TEST_F(ExpectTest, DimTwiceInOneShapeIsSaidOnce) {
  Dim n("n");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(n, n); }),
            "ValueError: x: shape [4, 8] does not match [n, n] with n = 4");
}

TEST_F(ExpectTest, UnboundDimHasNoValue) {
  Dim n("n");
  EXPECT_EQ(error_of([&] { n.value(); }),
            "InternalError: Dim n is used before shape() or strides() bound it");
}

TEST_F(ExpectTest, ScaledDim) {
  Dim n("n"), d("d");
  KERNKIT_EXPECT(x).shape(n, d);
  dy->shape[1] = 16;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, 2 * d); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, d * 2); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, 3 * d); }),
            "ValueError: y: shape [4, 16] does not match [n, 3 * d] with n = 4 (bound by x), d = 8 "
            "(bound by x)");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(n, 0 * d); }).substr(0, 10), "ValueError");
}

TEST_F(ExpectTest, ScaledDimOverflows) {
  Dim n("n");
  dx->shape[0] = int64_t{1} << 62;
  KERNKIT_EXPECT(x).shape(n, 8);
  dy->shape[0] = 0;  // 4 * 2^62 wraps to it
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(4 * n, 8); }),
            "ValueError: y: shape [0, 8] does not match [4 * n, 8] with n = 4611686018427387904 "
            "(bound by x)");
}

TEST_F(ExpectTest, ScaledDimOfUnboundDim) {
  Dim d("d");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 2 * d); }).substr(0, 13), "InternalError");
}

TEST_F(ExpectTest, Cpu) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu(); }), "nothing");
  dx->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu(); }),
            "ValueError: x: device cuda:1 is not supported; expected cpu");
  dx->device = {kDLCUDAHost, 0};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu(); }),
            "ValueError: x: device cuda_host:0 is not supported; expected cpu");
}

TEST_F(ExpectTest, Cuda) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cuda(); }),
            "ValueError: x: device cpu is not supported; expected cuda");
  dx->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cuda(); }), kWithCuda ? "nothing" : kWithoutCuda);
  dx->device = {kDLROCM, 0};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cuda(); }),
            "ValueError: x: device rocm:0 is not supported; expected cuda");
}

TEST_F(ExpectTest, CpuOrCuda) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu_or_cuda(); }), "nothing");
  dx->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu_or_cuda(); }),
            kWithCuda ? "nothing" : kWithoutCuda);
  dx->device = {kDLMetal, 0};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu_or_cuda(); }),
            "ValueError: x: device metal:0 is not supported; expected cpu or cuda");
}

TEST_F(ExpectTest, Device) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).device({kDLCPU, 0}); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).device(kCuda1); }),
            "ValueError: x: device cpu is not supported; expected cuda:1");
  dx->device = {kDLROCM, 2};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).device({kDLROCM, 2}); }), "nothing");
  EXPECT_EQ(error_of([&] {
              KERNKIT_EXPECT(x).device({kDLROCM, 0});
            }),
            "ValueError: x: device rocm:2 is not supported; expected rocm:0");
  dx->device = kCuda1;
  EXPECT_EQ(
      error_of([&] {
        KERNKIT_EXPECT(x).device({kDLCUDA, 0});
      }),
      kWithCuda ? "ValueError: x: device cuda:1 is not supported; expected cuda:0" : kWithoutCuda);
}

TEST_F(ExpectTest, SameDtype) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_dtype(x); }), "nothing");
  dy->dtype = dl_float16;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_dtype(x); }),
            "TypeError: y: dtype float16 does not match x (float32)");
}

TEST_F(ExpectTest, SameDevice) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_device(x); }), "nothing");
  dx->device = {kDLCUDA, 0};
  dy->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_device(x); }),
            "ValueError: y: device cuda:1 does not match x (cuda:0)");
}

TEST_F(ExpectTest, SameShape) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_shape(x); }), "nothing");
  dy->shape[1] = 9;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_shape(x); }),
            "ValueError: y: shape [4, 9] does not match x ([4, 8])");
  dy->ndim = 1;  // as many elements are not enough
  dy->shape[0] = 32;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_shape(x); }),
            "ValueError: y: shape [32] does not match x ([4, 8])");
}

TEST_F(ExpectTest, Like) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }), "nothing");
  dy->shape[0] = 3;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }),
            "ValueError: y: shape [3, 8] does not match x ([4, 8])");
  dy->device = kCuda1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }),
            "ValueError: y: device cuda:1 does not match x (cpu)");
  dy->dtype = dl_bool;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).like(x); }),
            "TypeError: y: dtype bool does not match x (float32)");
}

TEST_F(ExpectTest, UnnamedOther) {
  const TensorView other(dx);
  dy->dtype = dl_bool;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_dtype(other); }),
            "TypeError: y: dtype bool does not match the other tensor (float32)");
}

TEST_F(ExpectTest, UnnamedTensorIsNamedByItsExpression) {
  const TensorView weights[] = {TensorView(dx)};
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(weights[0]).rank(1); }),
            "ValueError: weights[0]: shape [4, 8] has rank 2; expected rank 1");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(dx).rank(1); }),
            "ValueError: dx: shape [4, 8] has rank 2; expected rank 1");
}

TEST_F(ExpectTest, Contiguous) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).contiguous(); }), "nothing");
  dx->strides[0] = 16;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).contiguous(); }),
            "ValueError: x: must be contiguous; shape [4, 8] has strides [16, 1]");
}

TEST_F(ExpectTest, LastDimContiguous) {
  dx->strides[0] = 16;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).last_dim_contiguous(); }), "nothing");
  dx->strides[1] = 2;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).last_dim_contiguous(); }),
            "ValueError: x: the last dimension must be contiguous; shape [4, 8] has strides [16, "
            "2]");
  dx->shape[1] = 1;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).last_dim_contiguous(); }), "nothing");
  HostTensor<float> scalar({}), null_strides({4, 8}, {0, 0, true});
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(scalar.view("s")).last_dim_contiguous(); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(null_strides.view("s")).last_dim_contiguous(); }),
            "nothing");
}

TEST_F(ExpectTest, Strides) {
  Dim row("row");
  dx->strides[0] = 16;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).strides(row, 1); }), "nothing");
  EXPECT_EQ(row.value(), 16);
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(8, 1); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(row, 1); }).substr(0, 10), "ValueError");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(1); }).substr(0, 10), "ValueError");
  dy->strides = nullptr;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(8, 1); }), "nothing");
  dy->shape[0] = 1;  // its stride does not matter
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(777, 1); }), "nothing");
  dx->shape[1] = 0;  // nor any of an empty tensor
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).strides(777, 777); }), "nothing");
}

TEST_F(ExpectTest, StridesMessage) {
  Dim row("row");
  KERNKIT_EXPECT(x).strides(row, 1);
  dy->strides[0] = 9;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(2 * row, 1); }),
            "ValueError: y: strides [9, 1] does not match [2 * row, 1] with row = 8 "
            "(bound by x)");
}

// A batch of one is ordinary: the launch that uses the stride must get one.
TEST_F(ExpectTest, StrideOfSizeOneIsStillBound) {
  Dim row("row");
  dx->shape[0] = 1;
  KERNKIT_EXPECT(x).strides(row, 1);
  EXPECT_EQ(error_of([&] { row.value(); }), "nothing");
}

TEST_F(ExpectTest, Aligned) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).aligned(64); }), "nothing");
  dx->byte_offset = 4;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).aligned(4); }), "nothing");
  Message expected;
  expected << "ValueError: x: address " << &x_tensor[1] << " is not aligned to 8 bytes";
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).aligned(8); }), expected.c_str());
  dx->shape[0] = 0;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).aligned(8); }), "nothing");
}

TEST_F(ExpectTest, NumelAtMost) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).numel_at_most(32); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).numel_at_most(31); }),
            "ValueError: x: shape [4, 8] has 32 elements; at most 31 are supported");
}

TEST_F(ExpectTest, Overlap) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).no_overlap(x).no_partial_overlap(x); }), "nothing");
  dy->data = dx->data;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).no_partial_overlap(x); }), "nothing");
  Message same;
  same << "ValueError: y: overlaps x in memory (float32 [4, 8] at " << dx->data
       << ", float32 [4, 8] at " << dx->data << ")";
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).no_overlap(x); }), same.c_str());
  dy->byte_offset = 4;
  Message shifted;
  shifted << "ValueError: y: partially overlaps x in memory (float32 [4, 8] at " << &x_tensor[1]
          << ", float32 [4, 8] at " << dx->data << ")";
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).no_partial_overlap(x); }), shifted.c_str());
}

// One address, but another order of elements: computing in place would read what it has written.
TEST_F(ExpectTest, TransposeInPlaceIsAPartialOverlap) {
  HostTensor<float> a({4, 4}), b({4, 4});
  b.dl()->data = a.dl()->data;
  b.dl()->strides[0] = 1;
  b.dl()->strides[1] = 4;
  EXPECT_EQ(
      error_of([&] { KERNKIT_EXPECT(b.view("b")).no_partial_overlap(a.view("a")); }).substr(0, 35),
      "ValueError: b: partially overlaps a");
}

TEST_F(ExpectTest, OneAddressTwoDtypesIsAPartialOverlap) {
  dy->data = dx->data;
  dy->dtype = dl_int32;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).no_partial_overlap(x); }).substr(0, 35),
            "ValueError: y: partially overlaps x");
}

// What was said is checked, in the order in which it was said, whatever else is said beside it.
TEST_F(ExpectTest, NoRestrictionIsLost) {
  dx->device = {kDLROCM, 0};
  dx->strides[0] = 9;
  EXPECT_EQ(
      error_of([&] { KERNKIT_EXPECT(x).dtype(types<int32_t>{}).dtype(types<float>{}).cpu(); }),
      "TypeError: x: dtype float32 is not supported; expected int32");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}).dtype(types<int32_t>{}); }),
            "TypeError: x: dtype float32 is not supported; expected int32");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).dtype(types<float>{}).rank(2).cpu_or_cuda(); }),
            "ValueError: x: device rocm:0 is not supported; expected cpu or cuda");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).contiguous().cpu(); }),
            "ValueError: x: must be contiguous; shape [4, 8] has strides [9, 1]");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).cpu().contiguous(); }),
            "ValueError: x: device rocm:0 is not supported; expected cpu");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 8).shape(4, 9).shape(4, 8); }),
            "ValueError: x: shape [4, 8] does not match [4, 9]");
}

// The field's names say what they always said.
TEST_F(ExpectTest, Macros) {
  EXPECT_EQ(error_of([&] {
              KERNKIT_CHECK_CPU(x);
              KERNKIT_CHECK_CONTIGUOUS(x);
              KERNKIT_CHECK_LAST_DIM_CONTIGUOUS(x);
              KERNKIT_CHECK_DIM(2, x);
              KERNKIT_CHECK_SHAPE(x, y);
              KERNKIT_CHECK_DTYPE(x, dl_float32);
              KERNKIT_CHECK_SAME_DTYPE(x, y);
              KERNKIT_CHECK_DEVICE(x, y);
            }),
            "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_CUDA(x); }),
            "ValueError: x: device cpu is not supported; expected cuda");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_INPUT(x); }),
            "ValueError: x: device cpu is not supported; expected cuda");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_DIM(3, x); }),
            "ValueError: x: shape [4, 8] has rank 2; expected rank 3");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_DTYPE(x, dl_bool); }),
            "TypeError: x: dtype float32 is not supported; expected bool");
  dx->strides[1] = 2;
  EXPECT_NE(error_of([&] { KERNKIT_CHECK_CONTIGUOUS(x); }), "nothing");
  EXPECT_NE(error_of([&] { KERNKIT_CHECK_LAST_DIM_CONTIGUOUS(x); }), "nothing");
  dy->shape[0] = 5;
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_SHAPE(x, y); }),
            "ValueError: x: shape [4, 8] does not match y ([5, 8])");
  dy->dtype = dl_int8;
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_SAME_DTYPE(x, y); }),
            "TypeError: x: dtype float32 does not match y (int8)");
  dy->device = {kDLROCM, 1};
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_DEVICE(x, y); }),
            "ValueError: x: device cpu does not match y (rocm:1)");
  EXPECT_EQ(error_of([&] { KERNKIT_CHECK_CPU(y); }),
            "ValueError: y: device rocm:1 is not supported; expected cpu");
}

TEST_F(ExpectTest, Where) {
  const int line = __LINE__ + 2;
  try {
    KERNKIT_EXPECT(x).rank(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().line, line);
  }
  try {
    KERNKIT_EXPECT(x).dtype(integral{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().line, line + 6);
  }
}

}  // namespace
}  // namespace kernkit
