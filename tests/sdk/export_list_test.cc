// SPDX-License-Identifier: Apache-2.0
// Optional arguments, arguments with defaults, and lists.
#include <string_view>
#include <tuple>

#include "export_fixture.h"
#include "kernkit/call/array.h"
#include "kernkit/call/export_typed.h"
#include "kernkit/call/tuple_argument.h"
#include "kernkit/function.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"

namespace ops {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::ShapeView;
using kernkit::TensorView;

void every_default(int64_t a, double b, std::string_view c, bool d, Optional<int64_t> e,
                   DLDataType f, double g) {
  record(a, b, c, d, e.has_value() ? *e : -1, f, g);
}

void optionals(Optional<TensorView> x, Optional<double> f, Optional<ShapeView> s) {
  record(x ? x->name() : "-", f.value_or(-1), s ? *s : ShapeView(), s.has_value());
}

void lists(ShapeView sizes, ListView<double> factors, ListView<TensorView> tensors) {
  record(sizes, factors.size(), factors.empty() ? -1 : factors[factors.size() - 1], tensors.size(),
         tensors.empty() ? "-" : tensors[0].name());
}

void owned(kernkit::Array<int64_t> numbers, const kernkit::Array<TensorView>& tensors) {
  const kernkit::Array<int64_t> copy = numbers;
  numbers.push_back(5);
  record(copy.size(), numbers.size(), numbers.at(numbers.size() - 1), tensors.size());
}
void nested(kernkit::Array<kernkit::Array<int64_t>> lists, std::tuple<int64_t, bool> pair) {
  record(lists.size(), lists[0].size(), lists[0][1], std::get<0>(pair), std::get<1>(pair));
}
template <int kFactor>
void times(int32_t n) noexcept {
  record(kFactor * n);
}

// Reads the lists, calls the callback, and reads the lists again.
void watch(ListView<double> numbers, ListView<TensorView> tensors, ListView<std::string_view> texts,
           const kernkit::Function& change) {
  const ListView<TensorView> copy = tensors;
  const TensorView first = tensors[0];
  change();
  record(numbers.size(), numbers[0], numbers[1], copy.size(), first.size(0), copy[0].size(0),
         texts[0], texts[1]);
}

}  // namespace ops

KERNKIT_EXPORT(every_default,
               "(int a, float b=2.5, str c='hi, (you)', bool d=True, int? e=None, "
               "ScalarType f=bfloat16, float g=-inf) -> ()",
               "", ops::every_default)
KERNKIT_EXPORT(optionals, "(Tensor? x, float? f=None, int[]? s=None) -> ()", "", ops::optionals)
KERNKIT_EXPORT(watch, "(float[] numbers, Tensor[] tensors, str[] texts, Callable change) -> ()", "",
               ops::watch)
KERNKIT_EXPORT(owned, "(int[] numbers, Tensor[] tensors) -> ()", "", ops::owned)
KERNKIT_EXPORT_TYPED(nested, ops::nested)
KERNKIT_EXPORT_TYPED(times_three, ops::times<3>)
KERNKIT_EXPORT_TYPED(of_lambda, [](double x, bool negative) { ops::record(negative ? -x : x); })
KERNKIT_EXPORT_TYPED(typed_lists, ops::lists)
KERNKIT_EXPORT(lists, "(int[] sizes, float[] factors, Tensor[] tensors) -> ()", "", ops::lists)

namespace kernkit {
namespace {

TEST_F(Export, Defaults) {
  EXPECT_EQ(received(__tvm_ffi_every_default, {integer(1)}),
            "1;2.5;hi, (you);true;-1;bfloat16;-inf;");
  EXPECT_EQ(received(__tvm_ffi_every_default, {integer(1), real(3)}),
            "1;3;hi, (you);true;-1;bfloat16;-inf;");
  KernkitAny dtype{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = dl_bool;
  EXPECT_EQ(received(__tvm_ffi_every_default, {integer(1), real(3), raw_str("c"), boolean(false),
                                               integer(4), dtype, integer(9)}),
            "1;3;c;false;4;bool;9;");
  EXPECT_EQ(error(__tvm_ffi_every_default, {}),
            "TypeError: every_default(): takes 1 to 7 arguments (a, b, c, d, e, f, g), got 0");
  EXPECT_EQ(error(__tvm_ffi_every_default, Args(8, integer(1))),
            "TypeError: every_default(): takes 1 to 7 arguments (a, b, c, d, e, f, g), got 8");
  EXPECT_EQ(error(__tvm_ffi_every_default, {integer(1), none()}),
            "TypeError: every_default(): b: expected float, got None");
}

TEST_F(Export, Optionals) {
  EXPECT_EQ(received(__tvm_ffi_optionals, {none()}), "-;-1;[];false;");
  const int64_t sizes[] = {4, 8};
  const Object<KernkitShapeCell> shape(kKernkitShape, {sizes, 2});
  EXPECT_EQ(received(__tvm_ffi_optionals, {x, real(2), shape.any()}), "x;2;[4, 8];true;");
  EXPECT_EQ(received(__tvm_ffi_optionals, {x, none(), none()}), "x;-1;[];false;");
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
  // 16 integers fit without an allocation; 17 integers do not.
  const Object<KernkitSeqCell> three(kKernkitArray, {ints, 3, 3, nullptr});
  const Object<KernkitSeqCell> sixteen(kKernkitArray, {ints, 16, 16, nullptr});
  const Object<KernkitSeqCell> seventeen(kKernkitList, {ints, 17, 20, nullptr});
  const Object<KernkitSeqCell> two(kKernkitList, {floats, 2, 2, nullptr});
  const Object<KernkitSeqCell> list_of_one(kKernkitArray, {tensors, 1, 1, nullptr});
  const Object<KernkitSeqCell> empty(kKernkitArray, {nullptr, 0, 0, nullptr});
  const std::string to15 = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15";
  EXPECT_EQ(received(__tvm_ffi_lists, {shape.any(), two.any(), list_of_one.any()}),
            "[7];2;2;1;tensors;");
  EXPECT_EQ(received(__tvm_ffi_lists, {three.any(), two.any(), list_of_one.any()}),
            "[0, 1, 2];2;2;1;tensors;");
  EXPECT_EQ(received(__tvm_ffi_lists, {empty.any(), empty.any(), empty.any()}), "[];0;-1;0;-;");
  EXPECT_EQ(received(__tvm_ffi_lists, {sixteen.any(), empty.any(), empty.any()}),
            "[" + to15 + "];0;-1;0;-;");
  EXPECT_EQ(received(__tvm_ffi_lists, {seventeen.any(), empty.any(), empty.any()}),
            "[" + to15 + ", 16];0;-1;0;-;");
}

TEST_F(Export, OwnedLists) {
  KernkitAny ints[] = {integer(1), integer(2)}, tensors[] = {x};
  const Object<KernkitSeqCell> two(kKernkitArray, {ints, 2, 2, nullptr});
  const Object<KernkitSeqCell> list_of_one(kKernkitList, {tensors, 1, 1, nullptr});
  EXPECT_EQ(received(__tvm_ffi_owned, {two.any(), list_of_one.any()}), "2;3;5;1;");
  EXPECT_EQ(error(__tvm_ffi_owned, {two.any(), two.any()}),
            "TypeError: owned(): tensors[0]: expected Tensor, got int 1");
}

TEST(Array, SharesUntilChanged) {
  Array<std::string> a = {"x", "y"};
  const Array<std::string> b = a;
  const std::string* first = &*a.begin();
  EXPECT_EQ(first, &*b.begin());
  a.own()[0] = "z";
  EXPECT_EQ(a[0] + b[0], "zx");
  EXPECT_EQ(&a.own()[0], &*a.begin()) << "an array with one owner is not copied again";
  Array<std::string> c;
  EXPECT_TRUE(c.empty() && c.begin() == c.end());
  c = b;
  c = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move)
  c.push_back("w");
  EXPECT_EQ(c.size(), 3);
  try {
    c.at(3);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "IndexError: index 3 is out of range for an array of size 3");
  }
}

TEST_F(Export, Typed) {
  KernkitAny ints[] = {integer(1), integer(2)}, pair[] = {integer(7), boolean(true)};
  const Object<KernkitSeqCell> two(kKernkitArray, {ints, 2, 2, nullptr});
  KernkitAny list[] = {two.any()};
  const Object<KernkitSeqCell> lists(kKernkitArray, {list, 1, 1, nullptr});
  const Object<KernkitSeqCell> both(kKernkitArray, {pair, 2, 2, nullptr});
  EXPECT_EQ(received(__tvm_ffi_nested, {lists.any(), both.any()}), "1;2;2;7;true;");
  EXPECT_EQ(received(__tvm_ffi_times_three, {integer(4)}), "12;");
  EXPECT_EQ(received(__tvm_ffi_of_lambda, {integer(4), boolean(true)}), "-4;");
  EXPECT_EQ(error(__tvm_ffi_nested, {two.any(), both.any()}),
            "TypeError: nested(): argument 1[0]: expected a list, got int 1");
  EXPECT_EQ(error(__tvm_ffi_nested, {lists.any(), lists.any()}),
            "TypeError: nested(): argument 2: expected a tuple of 2, got a list of 1");
  ints[1] = real(0.5);
  EXPECT_EQ(error(__tvm_ffi_nested, {lists.any(), both.any()}),
            "TypeError: nested(): argument 1[0][1]: expected int, got float 0.5");
  EXPECT_EQ(error(__tvm_ffi_nested, {}), "TypeError: nested(): takes 2 arguments, got 0");
  EXPECT_EQ(error(__tvm_ffi_times_three, {integer(1), x}),
            "TypeError: times_three(): takes 1 argument, got 2");
}

TEST(Typed, LineOfTypes) {
  EXPECT_STREQ(kernkit_export_nested_schema.text, "nested(Any argument_1, Any argument_2) -> ()");
  EXPECT_STREQ(kernkit_export_times_three_schema.text, "times_three(int argument_1) -> ()");
  EXPECT_STREQ(kernkit_export_of_lambda_schema.text,
               "of_lambda(float argument_1, bool argument_2) -> ()");
  EXPECT_STREQ(kernkit_export_typed_lists_schema.text,
               "typed_lists(int[] argument_1, float[] argument_2, Tensor[] argument_3) -> ()");
  using Line =
      detail::TypedLine<std::tuple<Tensor, Optional<int64_t>>, Optional<ShapeView>, std::string>;
  EXPECT_STREQ(Line::after("").text, "(int[]? argument_1, str argument_2) -> (Tensor, int?)");
}

// A List (type index 75), which may change, unlike an Array. In the tests a callback empties the
// list, which frees the list's elements and releases their objects.
struct MutableList {
  std::vector<KernkitAny> items;
  Object<KernkitSeqCell> object{kKernkitList, {}};

  explicit MutableList(std::vector<KernkitAny> content) : items(std::move(content)) {
    const auto size = static_cast<int64_t>(items.size());
    object.cell = {items.data(), size, size, nullptr};
  }
  void clear() {
    for (const KernkitAny& item : items) {
      if (item.type_index >= kKernkitObject) KernkitObjectDecRef(item.v.object);
    }
    for (KernkitAny& item : items) item = none();
    std::vector<KernkitAny>().swap(items);
    object.cell = {nullptr, 0, 0, nullptr};
  }
};
struct Lists {
  MutableList numbers, tensors, texts;
};
Lists* changing = nullptr;
int destroyed = 0;

TEST_F(Export, ListsThatChangeDuringTheCall) {
  struct Text : Object<KernkitByteArray> {
    using Object::Object;
    char content[20] = "longer than seven";
  };
  auto* tensor = new Object<DLTensor>(kKernkitTensor, *x_tensor.dl());
  auto* text = new Text(kKernkitStr, {nullptr, 17});
  text->cell.data = text->content;
  tensor->header.deleter = [](void* self, int) {
    delete static_cast<Object<DLTensor>*>(self);
    ++destroyed;
  };
  text->header.deleter = [](void* self, int) {
    delete static_cast<Text*>(self);
    ++destroyed;
  };
  KernkitAny small{};
  small.type_index = kKernkitSmallStr;
  small.small_size = 1;
  small.v.small[0] = 's';
  Lists lists{MutableList({real(0.5), integer(2)}), MutableList({tensor->any()}),
              MutableList({text->any(), small})};
  changing = &lists;
  destroyed = 0;
  const Object<KernkitFunctionCell> change(
      kKernkitFunction, {[](void*, const KernkitAny*, int32_t, KernkitAny*) {
                           changing->numbers.clear();
                           changing->tensors.clear();
                           changing->texts.clear();
                           EXPECT_EQ(destroyed, 0) << "the call still uses the elements";
                           return 0;
                         },
                         nullptr});
  EXPECT_EQ(received(__tvm_ffi_watch, {lists.numbers.object.any(), lists.tensors.object.any(),
                                       lists.texts.object.any(), change.any()}),
            "2;0.5;2;1;2;2;longer than seven;s;");
  EXPECT_EQ(destroyed, 2) << "the call has released the elements";
}

// Elements of an Array are neither copied nor reference-counted.
TEST_F(Export, ArraysAreBorrowed) {
  KernkitAny items[] = {integer(1), integer(2)};
  const Object<KernkitSeqCell> array(kKernkitArray, {items, 2, 2, nullptr});
  const auto list = AnyView(array.any()).cast<ListView<double>>();
  items[1] = integer(3);
  EXPECT_EQ(list[1], 3);
}

TEST_F(Export, ListsAreIterated) {
  KernkitAny items[] = {integer(1), real(2.5), integer(3)};
  const Object<KernkitSeqCell> array(kKernkitArray, {items, 3, 3, nullptr});
  double sum = 0;
  for (const double x : AnyView(array.any()).cast<ListView<double>>()) sum = 10 * sum + x;
  EXPECT_EQ(sum, 128);
  const Object<KernkitSeqCell> none(kKernkitArray, {nullptr, 0, 0, nullptr});
  const auto empty = AnyView(none.any()).cast<ListView<TensorView>>();
  EXPECT_TRUE(empty.begin() == empty.end());
  for (const TensorView x : empty) ADD_FAILURE() << x.name();
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

TEST_F(Export, NullAndMalformedLists) {
  const Object<KernkitSeqCell> empty(kKernkitArray, {nullptr, 0, 0, nullptr});
  const auto with = [&](KernkitAny sizes, KernkitAny factors) {
    return error(__tvm_ffi_lists, {sizes, factors, empty.any()});
  };
  const std::string sizes = "TypeError: lists(): sizes: expected a list of int, got ";
  const std::string factors = "TypeError: lists(): factors: expected a list, got ";
  EXPECT_EQ(with(pointer(kKernkitShape, nullptr), empty.any()), sizes + "a null Shape");
  const Object<KernkitShapeCell> shape(kKernkitShape, {nullptr, 2});
  EXPECT_EQ(with(shape.any(), empty.any()), sizes + "a malformed Shape");
  for (const int32_t type : {kKernkitArray, kKernkitList}) {
    EXPECT_EQ(with(pointer(type, nullptr), empty.any()), sizes + "a null list");
    EXPECT_EQ(with(empty.any(), pointer(type, nullptr)), factors + "a null list");
    const Object<KernkitSeqCell> no_data(type, {nullptr, 2, 2, nullptr});
    EXPECT_EQ(with(empty.any(), no_data.any()), factors + "a malformed list");
    KernkitAny element = real(1);
    const Object<KernkitSeqCell> negative(type, {&element, -1, 1, nullptr});
    EXPECT_EQ(with(negative.any(), empty.any()), sizes + "a malformed list");
    EXPECT_EQ(with(empty.any(), negative.any()), factors + "a malformed list");

    KernkitAny tensors[] = {x, pointer(kKernkitTensor, nullptr)};
    const Object<KernkitSeqCell> list(type, {tensors, 2, 2, nullptr});
    EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), empty.any(), list.any()}),
              "TypeError: lists(): tensors[1]: expected Tensor, got a null Tensor");
    DLTensor bad = *x_tensor.dl();
    bad.shape = nullptr;
    tensors[1] = pointer(kKernkitDLTensorPtr, &bad);
    EXPECT_EQ(error(__tvm_ffi_lists, {empty.any(), empty.any(), list.any()}),
              "ValueError: lists(): tensors[1]: shape is null, ndim is 2");
  }
}

TEST_F(Export, OptionalsThatAreNull) {
  EXPECT_EQ(error(__tvm_ffi_optionals, {pointer(kKernkitTensor, nullptr)}),
            "TypeError: optionals(): x: expected Tensor, got a null Tensor");
  DLTensor bad = *x_tensor.dl();
  bad.ndim = -2;
  EXPECT_EQ(error(__tvm_ffi_optionals, {pointer(kKernkitDLTensorPtr, &bad)}),
            "ValueError: optionals(): x: ndim is -2");
  EXPECT_EQ(error(__tvm_ffi_optionals, {none(), none(), pointer(kKernkitShape, nullptr)}),
            "TypeError: optionals(): s: expected a list of int, got a null Shape");
}

}  // namespace
}  // namespace kernkit
