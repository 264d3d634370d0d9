// SPDX-License-Identifier: Apache-2.0
// Arguments that may be left out, may be None, or are lists.
#include <string_view>

#include "export_fixture.h"
#include "kernkit/optional.h"

namespace ops {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::TensorView;

void defaults(int64_t a, double b, std::string_view c, bool d, Optional<int64_t> e, DLDataType f,
              double g) {
  see(a, b, c, d, e.has_value() ? *e : -1, f, g);
}

void optionals(Optional<TensorView> x, Optional<double> f, Optional<ShapeView> s) {
  see(x ? x->name() : "-", f.value_or(-1), s ? *s : ShapeView(), s.has_value());
}

void lists(ShapeView sizes, ListView<double> factors, ListView<TensorView> tensors) {
  see(sizes, factors.size(), factors.empty() ? -1 : factors[factors.size() - 1], tensors.size(),
      tensors.empty() ? "-" : tensors[0].name());
}

}  // namespace ops

KERNKIT_EXPORT(defaults,
               "(int a, float b=2.5, str c='hi, (you)', bool d=True, int? e=None, "
               "ScalarType f=bfloat16, float g=-inf) -> ()",
               "", ops::defaults)
KERNKIT_EXPORT(optionals, "(Tensor? x, float? f=None, int[]? s=None) -> ()", "", ops::optionals)
KERNKIT_EXPORT(lists, "(int[] sizes, float[] factors, Tensor[] tensors) -> ()", "", ops::lists)

namespace kernkit {
namespace {

TEST_F(Export, Defaults) {
  EXPECT_EQ(seen(__tvm_ffi_defaults, {integer(1)}), "1;2.5;hi, (you);true;-1;bfloat16;-inf;");
  EXPECT_EQ(seen(__tvm_ffi_defaults, {integer(1), real(3)}),
            "1;3;hi, (you);true;-1;bfloat16;-inf;");
  KernkitAny dtype{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = dl_bool;
  EXPECT_EQ(seen(__tvm_ffi_defaults, {integer(1), real(3), raw_str("c"), boolean(false), integer(4),
                                      dtype, integer(9)}),
            "1;3;c;false;4;bool;9;");
  EXPECT_EQ(error(__tvm_ffi_defaults, {}),
            "TypeError: defaults(): takes 1 to 7 arguments (a, b, c, d, e, f, g), got 0");
  EXPECT_EQ(error(__tvm_ffi_defaults, Args(8, integer(1))),
            "TypeError: defaults(): takes 1 to 7 arguments (a, b, c, d, e, f, g), got 8");
  EXPECT_EQ(error(__tvm_ffi_defaults, {integer(1), none()}),
            "TypeError: defaults(): b: expected float, got None");
}

TEST_F(Export, Optionals) {
  EXPECT_EQ(seen(__tvm_ffi_optionals, {none()}), "-;-1;[];false;");
  const int64_t sizes[] = {4, 8};
  const Object<KernkitShapeCell> shape(kKernkitShape, {sizes, 2});
  EXPECT_EQ(seen(__tvm_ffi_optionals, {x, real(2), shape.any()}), "x;2;[4, 8];true;");
  EXPECT_EQ(seen(__tvm_ffi_optionals, {x, none(), none()}), "x;-1;[];false;");
  EXPECT_EQ(error(__tvm_ffi_optionals, {integer(1)}),
            "TypeError: optionals(): x: expected Tensor, got int 1");
  EXPECT_EQ(error(__tvm_ffi_optionals, {x, real(2), integer(3)}),
            "TypeError: optionals(): s: expected a list of int, got int 3");
}

TEST_F(Export, Lists) {
  KernkitAny ints[20], floats[] = {real(0.5), integer(2)}, tensors[] = {x};
  for (int i = 0; i < 20; ++i) ints[i] = integer(i);
  const int64_t sizes[] = {7};
  const Object<KernkitShapeCell> shape(kKernkitShape, {sizes, 1});
  // 16 integers fit without an allocation, 17 do not.
  const Object<KernkitSeqCell> three(kKernkitArray, {ints, 3, 3, nullptr});
  const Object<KernkitSeqCell> sixteen(kKernkitArray, {ints, 16, 16, nullptr});
  const Object<KernkitSeqCell> seventeen(kKernkitList, {ints, 17, 20, nullptr});
  const Object<KernkitSeqCell> two(kKernkitList, {floats, 2, 2, nullptr});
  const Object<KernkitSeqCell> one(kKernkitArray, {tensors, 1, 1, nullptr});
  const Object<KernkitSeqCell> empty(kKernkitArray, {nullptr, 0, 0, nullptr});
  const std::string to15 = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15";
  EXPECT_EQ(seen(__tvm_ffi_lists, {shape.any(), two.any(), one.any()}), "[7];2;2;1;tensors;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {three.any(), two.any(), one.any()}), "[0, 1, 2];2;2;1;tensors;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {empty.any(), empty.any(), empty.any()}), "[];0;-1;0;-;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {sixteen.any(), empty.any(), empty.any()}),
            "[" + to15 + "];0;-1;0;-;");
  EXPECT_EQ(seen(__tvm_ffi_lists, {seventeen.any(), empty.any(), empty.any()}),
            "[" + to15 + ", 16];0;-1;0;-;");
}

TEST_F(Export, ListsOfWrongThings) {
  KernkitAny items[20];
  for (KernkitAny& item : items) item = integer(1);
  items[17] = real(0.5);
  const Object<KernkitSeqCell> list(kKernkitArray, {items, 20, 20, nullptr});
  const Object<KernkitSeqCell> empty(kKernkitArray, {nullptr, 0, 0, nullptr});
  EXPECT_EQ(error(__tvm_ffi_lists, {list.any(), empty.any(), empty.any()}),
            "TypeError: lists(): sizes[17]: expected int, got float 0.5");
  items[0] = none();
  EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), list.any(), empty.any()}),
            "TypeError: lists(): factors[0]: expected float, got None");
  EXPECT_EQ(error(__tvm_ffi_lists, {integer(1), empty.any(), empty.any()}),
            "TypeError: lists(): sizes: expected a list of int, got int 1");
  EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), none(), empty.any()}),
            "TypeError: lists(): factors: expected a list, got None");
  EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), empty.any(), list.any()}),
            "TypeError: lists(): tensors[0]: expected Tensor, got None");
}

}  // namespace
}  // namespace kernkit
