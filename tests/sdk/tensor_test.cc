// SPDX-License-Identifier: Apache-2.0
#include "kernkit/tensor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;
using testing::HostTensor;

std::vector<int64_t> listed(StridesView strides) {
  std::vector<int64_t> out;
  for (const int64_t stride : strides) out.push_back(stride);
  return out;
}

std::string text(const TensorView& x) { return (Message().stream() << x).c_str(); }

TEST(TensorView, Accessors) {
  HostTensor<float> tensor({4, 8});
  tensor.dl()->device = {kDLCUDA, 1};
  const TensorView x = tensor.view("x");
  EXPECT_EQ(x.ndim(), 2);
  EXPECT_EQ(x.dim(), 2);
  EXPECT_TRUE(x.dtype() == dl_float32);
  EXPECT_TRUE(x.device() == (DLDevice{kDLCUDA, 1}));
  EXPECT_EQ(x.byte_offset(), 0u);
  EXPECT_EQ(x.numel(), 32);
  EXPECT_EQ(x.data_ptr(), tensor.begin());
  EXPECT_EQ(x.data<float>(), tensor.begin());
  EXPECT_EQ(x.data<const float>(), tensor.begin());
  EXPECT_STREQ(x.name(), "x");
  EXPECT_EQ(x.get(), tensor.dl());
  const int64_t sizes[] = {4, 8};
  EXPECT_TRUE(x.sizes() == ShapeView(sizes));
  EXPECT_TRUE(x.shape() == ShapeView(sizes));
  EXPECT_EQ(listed(x.strides()), (std::vector<int64_t>{8, 1}));
}

TEST(TensorView, FromPointer) {
  HostTensor<float> tensor({4});
  const auto numel = [](TensorView x) { return x.numel(); };
  EXPECT_EQ(numel(tensor.dl()), 4);
  EXPECT_EQ(TensorView(tensor.dl()).name(), nullptr);
}

TEST(TensorView, NegativeIndexCountsFromTheEnd) {
  HostTensor<float> tensor({2, 3, 4});
  const TensorView x = tensor.view("x");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(x.size(i), 2 + i);
    EXPECT_EQ(x.size(i - 3), 2 + i);
    EXPECT_EQ(x.stride(i - 3), x.stride(i));
  }
  EXPECT_EQ(x.stride(-3), 12);
}

TEST(TensorView, IndexError) {
  HostTensor<float> tensor({2, 3});
  const TensorView x = tensor.view("x");
  EXPECT_EQ(error_of([&] { x.size(2); }),
            "IndexError: x: dimension 2 does not exist; shape is [2, 3]");
  EXPECT_EQ(error_of([&] { x.stride(-3); }),
            "IndexError: x: dimension -3 does not exist; shape is [2, 3]");
  EXPECT_NE(error_of([&] { x.size(INT64_MIN); }), "nothing");
  EXPECT_NE(error_of([&] { x.size(INT64_MAX); }), "nothing");
  EXPECT_NE(error_of([&] { x.size(int64_t{1} << 32); }), "nothing");
  HostTensor<float> scalar({});
  EXPECT_EQ(error_of([&] { TensorView(scalar.dl()).size(0); }),
            "IndexError: tensor: dimension 0 does not exist; shape is []");
  EXPECT_EQ(error_of([&] { TensorView(scalar.dl()).stride(-1); }),
            "IndexError: tensor: dimension -1 does not exist; shape is []");
}

// [facts]
TEST(TensorView, NullStrides) {
  HostTensor<float> tensor({2, 3, 4}, {0, 0, true});
  const TensorView x = tensor.view("x");
  ASSERT_EQ(tensor.dl()->strides, nullptr);
  EXPECT_EQ(x.stride(0), 12);
  EXPECT_EQ(x.stride(-1), 1);
  EXPECT_EQ(listed(x.strides()), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(text(x), "float32 [2, 3, 4]");
}

TEST(TensorView, ByteOffsetIsApplied) {
  HostTensor<float> tensor({3}, {1, 20, false});
  tensor[0] = 5;
  const TensorView x = tensor.view("x");
  EXPECT_EQ(x.byte_offset(), 20u);
  EXPECT_NE(x.data_ptr(), tensor.dl()->data);
  EXPECT_EQ(x.data_ptr(), tensor.begin());
  EXPECT_EQ(*x.data<float>(), 5.0f);
}
// [/facts]

// DLPack allows null data for a tensor without elements; sanitizers would report arithmetic with
// the null pointer.
TEST(TensorView, NullDataWithByteOffset) {
  HostTensor<float> tensor({0});
  tensor.dl()->data = nullptr;
  EXPECT_EQ(tensor.view("x").data_ptr(), nullptr);
  tensor.dl()->byte_offset = 64;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.view("x").data_ptr()), 64u);
}

TEST(TensorView, RankZero) {
  HostTensor<float> tensor({});
  tensor.dl()->shape = nullptr;
  tensor.dl()->strides = nullptr;
  const TensorView x = tensor.view("x");
  EXPECT_EQ(x.numel(), 1);
  EXPECT_TRUE(x.sizes().empty());
  EXPECT_EQ(x.strides().size(), 0u);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(text(x), "float32 []");
}

TEST(TensorView, NumelRejectsMoreThanInt64) {
  HostTensor<float> tensor({1, 1});
  const TensorView x = tensor.view("x");
  int64_t* sizes = tensor.dl()->shape;
  sizes[0] = sizes[1] = int64_t{1} << 40;
  EXPECT_EQ(error_of([&] { x.numel(); }),
            "ValueError: x: shape [1099511627776, 1099511627776] has a negative size or more than "
            "2^63 - 1 elements");
  sizes[1] = 0;
  EXPECT_EQ(x.numel(), 0);
  sizes[0] = -3;
  EXPECT_EQ(error_of([&] { x.numel(); }),
            "ValueError: x: shape [-3, 0] has a negative size or more than 2^63 - 1 elements");
}

TEST(TensorView, DataOfAnotherType) {
  HostTensor<float> tensor({1});
  const TensorView x = tensor.view("x");
  EXPECT_EQ(error_of([&] { x.data<double>(); }), "TypeError: x: dtype float32 was read as float64");
  EXPECT_EQ(error_of([&] { x.data<const int32_t>(); }),
            "TypeError: x: dtype float32 was read as int32");
  tensor.dl()->dtype.lanes = 4;
  EXPECT_EQ(error_of([&] { TensorView(tensor.dl()).data<float>(); }),
            "TypeError: tensor: dtype float32x4 was read as float32");
  static_assert(std::is_same_v<decltype(x.data<const float>()), const float*>);
}

TEST(TensorView, IsContiguous) {
  HostTensor<float> tensor({2, 1, 3});
  const TensorView x = tensor.view("x");
  int64_t* sizes = tensor.dl()->shape;
  int64_t* strides = tensor.dl()->strides;
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_TRUE(x.IsContiguous());
  strides[1] = 777;  // the stride of a dimension of size 1 does not matter
  EXPECT_TRUE(x.is_contiguous());
  strides[2] = 2;
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_FALSE(x.IsContiguous());
  strides[2] = 1;
  strides[0] = 4;
  EXPECT_FALSE(x.is_contiguous());
  strides[0] = -3;
  EXPECT_FALSE(x.is_contiguous());
  strides[0] = 0;  // an expanded tensor
  EXPECT_FALSE(x.is_contiguous());
  sizes[2] = 0;  // without elements every layout is contiguous
  EXPECT_TRUE(x.is_contiguous());
  sizes[2] = 3;
  sizes[0] = 0;
  strides[2] = 5;
  EXPECT_TRUE(x.is_contiguous());
}

TEST(TensorView, TransposedIsNotContiguous) {
  HostTensor<float> tensor({2, 3});
  tensor.dl()->shape[0] = 3;
  tensor.dl()->shape[1] = 2;
  tensor.dl()->strides[0] = 1;
  tensor.dl()->strides[1] = 3;
  EXPECT_FALSE(tensor.view("x").is_contiguous());
  EXPECT_EQ(text(tensor.view("x")), "float32 [3, 2] strides [1, 3]");
}

TEST(TensorView, Prints) {
  HostTensor<bfloat16> tensor({4, 8});
  EXPECT_EQ(text(tensor.view("x")), "bfloat16 [4, 8]");
  tensor.dl()->device = {kDLCUDA, 1};
  tensor.dl()->strides[0] = 16;
  EXPECT_EQ(text(tensor.view("x")), "cuda:1 bfloat16 [4, 8] strides [16, 1]");
}

}  // namespace
}  // namespace kernkit
