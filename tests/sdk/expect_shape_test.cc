// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "expect_fixture.h"

namespace kernkit {
namespace {

using testing::error_of;
using testing::HostTensor;

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
  EXPECT_EQ(n.value(), 4) << "a comparison must not change a bound size";
}

// A Dim may be bound to 0: no size represents the unbound state.
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

TEST_F(ExpectTest, DimTwiceInOneShapeIsReportedOnce) {
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
  dy->shape[0] = 0;  // 4 * 2^62 wraps to 0
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(4 * n, 8); }),
            "ValueError: y: shape [0, 8] does not match [4 * n, 8] with n = 4611686018427387904 "
            "(bound by x)");
}

TEST_F(ExpectTest, ScaledDimOfUnboundDim) {
  Dim d("d");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).shape(4, 2 * d); }).substr(0, 13), "InternalError");
}

TEST_F(ExpectTest, SameShape) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_shape(x); }), "nothing");
  dy->shape[1] = 9;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_shape(x); }),
            "ValueError: y: shape [4, 9] does not match x ([4, 8])");
  dy->ndim = 1;  // the same number of elements is not sufficient
  dy->shape[0] = 32;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).same_shape(x); }),
            "ValueError: y: shape [32] does not match x ([4, 8])");
}

TEST_F(ExpectTest, NumelAtMost) {
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).numel_at_most(32); }), "nothing");
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).numel_at_most(31); }),
            "ValueError: x: shape [4, 8] has 32 elements; at most 31 are supported");
}

}  // namespace
}  // namespace kernkit
