// SPDX-License-Identifier: Apache-2.0
#include "kernkit/owning_shape.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/export.h"
#include "kernkit/host/runtime.h"
#include "kernkit/owning_any.h"

namespace {
kernkit::Shape halved(kernkit::TensorView x) {
  kernkit::Shape shape(x.sizes());
  for (int64_t& size : shape) size /= 2;
  return shape;
}
}  // namespace
KERNKIT_EXPORT(halved, "(Tensor x) -> int[]", "Returns the sizes of x, each divided by 2.", halved)

namespace kernkit {
namespace {

ShapeView view(const Shape& shape) { return shape; }

TEST(Shape, OwnsItsElements) {
  int64_t sizes[] = {2, 3};
  Shape shape{ShapeView(sizes)};
  sizes[0] = 77;
  EXPECT_EQ(view(shape), ShapeView({2, 3}));
  shape[1] = 5;
  EXPECT_EQ(view(shape), ShapeView({2, 5}));
  EXPECT_EQ(view(Shape()), ShapeView());
  EXPECT_TRUE(Shape().empty());
}

// A Shape can be created from a vector or an array. Up to 8 sizes are stored in the object itself.
TEST(Shape, OfAVector) {
  const std::vector<int64_t> sizes = {4, 0, 5};
  EXPECT_EQ(ShapeView(Shape(sizes)), ShapeView({4, 0, 5}));
  const Shape of_array = std::array<int64_t, 2>{7, 8};
  EXPECT_EQ(ShapeView(of_array), ShapeView({7, 8}));
  EXPECT_TRUE(Shape(std::vector<int64_t>()).empty());
  static_assert(!std::is_convertible_v<std::vector<int32_t>, Shape>,
                "other integers are not copied");
}

TEST(Shape, CheckedIndex) {
  const Shape shape = {4, 5};
  EXPECT_EQ(shape.at(1), 5);
  EXPECT_EQ(ShapeView(shape).at(0), 4);
  for (const size_t i : {size_t{2}, ~size_t{0}}) {
    try {
      shape.at(i);
      ADD_FAILURE() << i;
    } catch (const Error& error) {
      const std::string text =
          "IndexError: index " + std::to_string(i) + " is out of range for a shape of size 2";
      EXPECT_EQ(error.what(), text);
    }
  }
}

TEST(Shape, CopiesAndAssigns) {
  const Shape small = {1, 2, 3, 4, 5, 6, 7, 8}, large = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const Shape* from : {&small, &large}) {
    Shape copy(*from);
    EXPECT_EQ(view(copy), view(*from));
    EXPECT_NE(copy.data(), from->data());
    for (const Shape* to : {&small, &large}) {
      Shape assigned(*to);
      assigned = *from;
      EXPECT_EQ(view(assigned), view(*from));
      copy[0] = 100;
      EXPECT_EQ(assigned[0], 1);
    }
  }
  Shape self(large);
  const Shape& same = self;
  self = same;
  EXPECT_EQ(view(self), view(large));
  const Shape moved(std::move(self));
  EXPECT_EQ(view(moved), view(large));
}

TEST(Shape, IsAResult) {
  int64_t sizes[] = {8, 6};
  DLTensor x{nullptr, {kDLCPU, 0}, 2, dl_float32, sizes, nullptr, 0};
  KernkitAny argument{}, result{};
  argument.type_index = kKernkitDLTensorPtr;
  argument.v.ptr = &x;
  ASSERT_EQ(__tvm_ffi_halved(nullptr, &argument, 1, &result), 0);
  const Any list = Any::adopt(result);
  const auto values = list.cast<ListView<int64_t>>();
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0], 4);
  EXPECT_EQ(values[1], 3);
}

}  // namespace
}  // namespace kernkit
