// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "expect_fixture.h"

namespace kernkit {
namespace {

using testing::error_of;
using testing::HostTensor;

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
  dy->shape[0] = 1;  // the stride of a dimension of size 1 does not matter
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(777, 1); }), "nothing");
  dx->shape[1] = 0;  // the strides of an empty tensor do not matter
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

// The stride is bound although its size is 1, since a launch for a batch of one uses the stride.
TEST_F(ExpectTest, StrideOfSizeOneIsStillBound) {
  Dim row("row");
  dx->shape[0] = 1;
  KERNKIT_EXPECT(x).strides(row, 1);
  EXPECT_EQ(error_of([&] { row.value(); }), "nothing");
}

// Frameworks store arbitrary strides for dimensions of size 1 and for empty tensors. These strides
// must not be compared with the strides of other tensors.
TEST_F(ExpectTest, StrideThatDoesNotMatterBindsNothing) {
  for (const bool is_empty : {false, true}) {
    Dim row("row");
    dx->shape[0] = is_empty ? 4 : 1;
    dx->shape[1] = is_empty ? 0 : 8;
    dx->strides[0] = 777;
    KERNKIT_EXPECT(x).strides(row, 1);
    EXPECT_EQ(row.value(), 777) << "a launch that uses the stride needs a value";
    EXPECT_FALSE(row.is_bound());
    EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(row, 1); }), "nothing");
    EXPECT_EQ(row.value(), 8);
    EXPECT_STREQ(row.bound_by(), "y");
    EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).strides(row, 1); }), "nothing");
    EXPECT_EQ(row.value(), 8);

    Dim half("half");
    KERNKIT_EXPECT(x).strides(half, 1);
    EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(2 * half, 1); }), "nothing");
    EXPECT_EQ(half.value(), 4);
    Dim third("third");
    KERNKIT_EXPECT(x).strides(third, 1);
    EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).strides(3 * third, 1); }),
              "ValueError: y: strides [8, 1] does not match [3 * third, 1]");
    Dim rows("rows");
    KERNKIT_EXPECT(x).strides(rows, 1);
    EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).shape(rows, 8); }), "nothing");
    EXPECT_EQ(rows.value(), 4);
  }
}

TEST_F(ExpectTest, LastDimOfAnEmptyTensor) {
  dx->shape[0] = 0;
  dx->strides[1] = 2;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(x).last_dim_contiguous(); }), "nothing");
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

// Tensors with the same address and a different order of elements overlap partially: an in-place
// computation would read its own results.
TEST_F(ExpectTest, TransposeInPlaceIsAPartialOverlap) {
  HostTensor<float> a({4, 4}), b({4, 4});
  b.dl()->data = a.dl()->data;
  b.dl()->strides[0] = 1;
  b.dl()->strides[1] = 4;
  EXPECT_EQ(error_of([&] {
              KERNKIT_EXPECT(b.view("b")).no_partial_overlap(a.view("a"));
            }).find("ValueError: b: may partially overlap a in memory ("),
            0u);
}

TEST_F(ExpectTest, OneAddressTwoDtypesIsAPartialOverlap) {
  dy->data = dx->data;
  dy->dtype = dl_int32;
  EXPECT_EQ(error_of([&] { KERNKIT_EXPECT(y).no_partial_overlap(x); }).substr(0, 35),
            "ValueError: y: partially overlaps x");
}

}  // namespace
}  // namespace kernkit
