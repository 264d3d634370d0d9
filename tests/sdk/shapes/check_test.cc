// SPDX-License-Identifier: Apache-2.0
// The errors of exported functions for arguments that do not match the shapes in the schema line.
#include "export_fixture.h"
#include "kernkit/expect.h"
#include "kernkit/shapes/export.h"

namespace ops {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::TensorView;

void two(TensorView, TensorView) { record("ran"); }
void by_hand(TensorView y, TensorView x) {
  kernkit::Dim n("n");
  kernkit::Dim d("d");
  KERNKIT_EXPECT(x).shape(n, d);
  KERNKIT_EXPECT(y).shape(2 * d, n);
  record("ran");
}
void quantised(TensorView, TensorView, TensorView, int32_t) { record("ran"); }
void weighted(TensorView, TensorView, Optional<TensorView>, Optional<TensorView>) { record("ran"); }
void summed(TensorView, ListView<TensorView>) { record("ran"); }
void typed(TensorView, TensorView, TensorView, Optional<DLDataType>) { record("ran"); }
void owned(kernkit::Tensor) { record("ran"); }
void rounded(TensorView, TensorView, int64_t) { record("ran"); }
void scalar(TensorView) { record("ran"); }
void chosen(TensorView, Optional<TensorView>, Optional<TensorView>, Optional<TensorView>) {
  record("ran");
}
void listed(TensorView, Optional<ListView<TensorView>>, TensorView) { record("ran"); }
void summed_last(Optional<TensorView>, ListView<TensorView>) { record("ran"); }
void three(TensorView, TensorView, TensorView) { record("ran"); }
void of_optional(TensorView, Optional<TensorView>, TensorView) { record("ran"); }

}  // namespace ops

// [shapes]
KERNKIT_EXPORT(shaped_silu, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()", "", ops::two)
// [/shapes]
KERNKIT_EXPORT(shaped_by_line, "(Tensor y[2*d, n], Tensor x[n, d]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_by_hand, "(Tensor y, Tensor x) -> ()", "", ops::by_hand)
KERNKIT_EXPORT(shaped_alike, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_rows, "(Tensor(out!) y[..., 1], Tensor x[..., _]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_quantised,
               "(Tensor(out!) q[n, d]: int8, Tensor(out!) s[n, d/group]: float32, Tensor x[n, d], "
               "int group) -> ()",
               "", ops::quantised)
KERNKIT_EXPORT(
    shaped_weighted,
    "(Tensor(out!) y[n, d], Tensor x[n, d], Tensor? weight[d, k]=None, Tensor? bias[k]: x=None) "
    "-> ()",
    "", ops::weighted)
KERNKIT_EXPORT(shaped_summed, "(Tensor(out!) y[n, ...], Tensor[] xs[n, ...]) -> ()", "",
               ops::summed)
KERNKIT_EXPORT(
    shaped_typed,
    "(Tensor(out!) y[n]: t or x, Tensor x[n], Tensor(a!) z: x, ScalarType? t=None) -> ()", "",
    ops::typed)
KERNKIT_EXPORT(shaped_owned, "(Tensor x[3, n]) -> ()", "", ops::owned)
KERNKIT_EXPORT(
    shaped_rounded,
    "(Tensor(out!) y[round_up(n, k), ceil_div(n - 1, k) + numel(...)], Tensor x[n, ...], int k) "
    "-> ()",
    "", ops::rounded)
KERNKIT_EXPORT(shaped_scalar, "(Tensor x[]) -> ()", "", ops::scalar)
KERNKIT_EXPORT(
    shaped_chosen,
    "(Tensor x[n], Tensor(out!)? w[n, k?], Tensor(out!)? i[k], Tensor(out!)? j[2*k + n]) "
    "-> ()",
    "", ops::chosen)
KERNKIT_EXPORT(shaped_listed,
               "(Tensor x[n], Tensor(out!)[]? ys[n, k?], Tensor(out!) z[k, m?]) -> ()", "",
               ops::listed)
KERNKIT_EXPORT(shaped_summed_last, "(Tensor? w[..., d], Tensor[] xs[...]) -> ()", "",
               ops::summed_last)
// Schema lines in which "..." is the whole shape. A comparison of the shape of the whole output
// with the first input would be too strict for these schema lines.
KERNKIT_EXPORT(shaped_updated, "(Tensor x[...], Tensor(a!) y[...], Tensor w[...]) -> ()", "",
               ops::three)
KERNKIT_EXPORT(shaped_longer, "(Tensor(out!) y[..., 1], Tensor x[...]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_typed_dots, "(Tensor(out!) y[...]: int8, Tensor x[...]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_any_type, "(Tensor(out!) y[...]: ?, Tensor x[...]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_by_second, "(Tensor(out!) y[...], Tensor x[n], Tensor w[...]) -> ()", "",
               ops::three)
KERNKIT_EXPORT(shaped_reduced, "(Tensor(out!) y[...], Tensor x[..., n]) -> ()", "", ops::two)
KERNKIT_EXPORT(shaped_total, "(Tensor(out!) y[...], Tensor[] xs[...]) -> ()", "", ops::summed)
KERNKIT_EXPORT(shaped_of_any_list, "(Tensor(out!) y[3], Tensor[] xs) -> ()", "", ops::summed)
KERNKIT_EXPORT(shaped_optional_dots,
               "(Tensor(out!) y[...], Tensor(out!)? w[...], Tensor x[...]) -> ()", "",
               ops::of_optional)

namespace kernkit {
namespace {

template <class T = float>
struct TensorArgument {
  HostTensor<T> tensor;
  KernkitAny any;
  explicit TensorArgument(const std::vector<int64_t>& shape)
      : tensor(shape), any(pointer(kKernkitDLTensorPtr, tensor.dl())) {}
};
template <class T = float, class U = T>
std::string call(KernkitFunction f, const std::vector<int64_t>& first,
                 const std::vector<int64_t>& second) {
  const TensorArgument<T> a(first);
  const TensorArgument<U> b(second);
  return received(f, {a.any, b.any});
}

KernkitAny array_of(std::vector<KernkitAny>& items) {
  KernkitSeqCell cell{};
  cell.data = items.data();
  cell.size = static_cast<int64_t>(items.size());
  static std::vector<std::unique_ptr<Object<KernkitSeqCell>>> lists;
  lists.push_back(std::make_unique<Object<KernkitSeqCell>>(kKernkitArray, cell));
  return lists.back()->any();
}

TEST(Shapes, AreCheckedBeforeTheFunctionRuns) {
  EXPECT_EQ(call(__tvm_ffi_shaped_silu, {3, 4}, {3, 8}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_silu, {0, 4}, {0, 8}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_silu, {3, 5}, {3, 8}),
            "ValueError: shaped_silu(): y: shape [3, 5] does not match [n, d] with n = 3 (bound by "
            "x), d = 4 "
            "(bound by x)");
  EXPECT_EQ(call(__tvm_ffi_shaped_silu, {2, 4}, {3, 8}),
            "ValueError: shaped_silu(): y: shape [2, 4] does not match [n, d] with n = 3 (bound by "
            "x), d = 4 "
            "(bound by x)");
  EXPECT_EQ(call(__tvm_ffi_shaped_silu, {3, 3}, {3, 7}),
            "ValueError: shaped_silu(): x: shape [3, 7] does not match [n, 2 * d] with n = 3");
  EXPECT_EQ(call(__tvm_ffi_shaped_silu, {3, 4}, {24}),
            "ValueError: shaped_silu(): x: shape [24] does not match [n, 2 * d]");
  EXPECT_EQ(
      call(__tvm_ffi_shaped_silu, {12}, {3, 8}),
      "ValueError: shaped_silu(): y: shape [12] does not match [n, d] with n = 3 (bound by x), d = "
      "4 (bound "
      "by x)");
}

TEST(Shapes, AreRejectedWithTheMessagesOfExpect) {
  const auto after_name = [](const std::string& text) { return text.substr(text.find("(): ")); };
  // The schema line binds the sizes in the order in which the function checks tensors: y, then x.
  const std::string by_line = call(__tvm_ffi_shaped_by_line, {8, 4}, {3, 8});
  EXPECT_EQ(
      after_name(by_line),
      "(): x: shape [3, 8] does not match [n, d] with n = 4 (bound by y), d = 4 (bound by y)");
  const std::string by_hand = call(__tvm_ffi_shaped_by_hand, {8, 4}, {3, 8});
  EXPECT_EQ(
      after_name(by_hand),
      "(): y: shape [8, 4] does not match [2 * d, n] with d = 8 (bound by x), n = 3 (bound by x)");
}

TEST(Shapes, DotsAloneAreTheShapeOfAnother) {
  EXPECT_EQ(call(__tvm_ffi_shaped_alike, {2, 3}, {2, 3}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_alike, {}, {}), "ran;");
  for (const std::vector<int64_t>& y : {std::vector<int64_t>{2, 4}, {2}, {2, 3, 1}, {}}) {
    const std::string message = call(__tvm_ffi_shaped_alike, y, {2, 3});
    Message text;
    text << "ValueError: shaped_alike(): y: shape " << ShapeView(y.data(), y.size())
         << " does not match x ([2, 3])";
    EXPECT_EQ(message, text.c_str());
  }
  EXPECT_EQ((call<float, double>(__tvm_ffi_shaped_alike, {3}, {3})),
            "TypeError: shaped_alike(): y: dtype float32 does not match x (float64)");
}

// The shape of a whole output is compared with the shape of the first input only if the schema line
// meets several conditions. Each schema line here violates one of the conditions.
TEST(Shapes, DotsRequireOnlyWhatTheLineDeclares) {
  const TensorArgument<float> x({2, 3});
  const TensorArgument<double> wide({2, 3});
  // Tensors that are only read may have other dtypes.
  EXPECT_EQ(received(__tvm_ffi_shaped_updated, {x.any, wide.any, wide.any}), "ran;");
  const TensorArgument<float> other({2, 4});
  EXPECT_EQ(received(__tvm_ffi_shaped_updated, {x.any, other.any, wide.any}),
            "ValueError: shaped_updated(): y: shape [2, 4] does not match x ([2, 3])");
  EXPECT_EQ(call(__tvm_ffi_shaped_longer, {2, 3, 1}, {2, 3}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_longer, {2, 3}, {2, 3}).substr(0, 10), "ValueError");
  EXPECT_EQ((call<int8_t, float>(__tvm_ffi_shaped_typed_dots, {2, 3}, {2, 3})), "ran;");
  EXPECT_EQ((call<float, float>(__tvm_ffi_shaped_typed_dots, {2, 3}, {2, 3})),
            "TypeError: shaped_typed_dots(): y: dtype float32 is not supported; expected int8");
  EXPECT_EQ((call<int8_t, float>(__tvm_ffi_shaped_typed_dots, {2, 4}, {2, 3})).substr(0, 10),
            "ValueError");
  EXPECT_EQ((call<double, float>(__tvm_ffi_shaped_any_type, {2, 3}, {2, 3})), "ran;");
  const TensorArgument<float> vector({5});
  EXPECT_EQ(received(__tvm_ffi_shaped_by_second, {x.any, vector.any, wide.any}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_reduced, {2, 3}, {2, 3, 9}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_reduced, {2, 3, 9}, {2, 3, 9}).substr(0, 10), "ValueError");
  EXPECT_EQ(received(__tvm_ffi_shaped_optional_dots, {x.any, none(), x.any}), "ran;");
  EXPECT_EQ(received(__tvm_ffi_shaped_optional_dots, {x.any, wide.any, x.any}),
            "TypeError: shaped_optional_dots(): w: dtype float64 does not match x (float32)");
}

TEST(Shapes, DotsAreOneRunOfSizes) {
  EXPECT_EQ(call(__tvm_ffi_shaped_rows, {2, 3, 1}, {2, 3, 9}), "ran;");
  EXPECT_EQ(call(__tvm_ffi_shaped_rows, {1}, {9}), "ran;");
  EXPECT_EQ(
      call(__tvm_ffi_shaped_rows, {2, 4, 1}, {2, 3, 9}),
      "ValueError: shaped_rows(): y: shape [2, 4, 1] does not match [..., 1] with ... = [2, 3] "
      "(bound by x)");
  EXPECT_EQ(call(__tvm_ffi_shaped_rows, {2, 1}, {2, 3, 9}),
            "ValueError: shaped_rows(): y: shape [2, 1] does not match [..., 1] with ... = [2, 3] "
            "(bound by x)");
  EXPECT_EQ(
      call(__tvm_ffi_shaped_rows, {}, {9}),
      "ValueError: shaped_rows(): y: shape [] does not match [..., 1] with ... = [] (bound by x)");
  EXPECT_EQ(call(__tvm_ffi_shaped_rows, {1}, {}),
            "ValueError: shaped_rows(): x: shape [] does not match [..., _]");
}

std::string quantise(int64_t group, const std::vector<int64_t>& scales) {
  const TensorArgument<int8_t> q({3, 8});
  const TensorArgument<float> s(scales);
  const TensorArgument<float> x({3, 8});
  return received(__tvm_ffi_shaped_quantised, {q.any, s.any, x.any, integer(group)});
}
TEST(Shapes, MayHaveIntParameters) {
  EXPECT_EQ(quantise(4, {3, 2}), "ran;");
  EXPECT_EQ(quantise(3, {3, 2}),
            "ValueError: shaped_quantised(): s: shape [3, 2] does not match [n, d / group] with n "
            "= 3 (bound by "
            "x), d = 8 (bound by x), group = 3");
  EXPECT_EQ(quantise(4, {3, 3}).substr(0, 64),
            "ValueError: shaped_quantised(): s: shape [3, 3] does not match [");
  for (const int64_t group : {0, -4}) EXPECT_NE(quantise(group, {3, 2}), "ran;");
}

TEST(Shapes, OfAnOptionalTensorAreCheckedIfItIsPassed) {
  const TensorArgument<float> x({3, 8});
  const TensorArgument<float> w({8, 5});
  const TensorArgument<float> short_w({7, 5});
  const TensorArgument<float> b({5});
  const TensorArgument<float> short_b({4});
  const auto f = __tvm_ffi_shaped_weighted;
  EXPECT_EQ(received(f, {x.any, x.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, x.any, w.any, b.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, x.any, none(), short_b.any}), "ran;");
  EXPECT_EQ(
      received(f, {x.any, x.any, short_w.any}),
      "ValueError: shaped_weighted(): weight: shape [7, 5] does not match [d, k] with d = 8 (bound "
      "by x), k "
      "= 5");
  EXPECT_EQ(received(f, {x.any, x.any, w.any, short_b.any}),
            "ValueError: shaped_weighted(): bias: shape [4] does not match [k] with k = 5 (bound "
            "by weight)");
}

TEST(Shapes, MayBeRounded) {
  const auto run = [](const std::vector<int64_t>& y, const std::vector<int64_t>& x, int64_t k) {
    const TensorArgument<float> a(y);
    const TensorArgument<float> b(x);
    return received(__tvm_ffi_shaped_rounded, {a.any, b.any, integer(k)});
  };
  EXPECT_EQ(run({8, 3 + 6}, {5, 2, 3}, 4).substr(0, 10), "ValueError");
  EXPECT_EQ(run({8, 1 + 6}, {5, 2, 3}, 4), "ran;");
  EXPECT_EQ(run({6, 2 + 6}, {5, 2, 3}, 3), "ran;");
  EXPECT_EQ(run({6, 2}, {5, 2, 3}, 3),
            "ValueError: shaped_rounded(): y: shape [6, 2] does not match [round_up(n, k), "
            "ceil_div(n - 1, k) + "
            "numel(...)] with n = 5 (bound by x), k = 3");
  EXPECT_EQ(call(__tvm_ffi_shaped_owned, {3, 1}, {1}).substr(0, 9), "TypeError");
}

TEST(Shapes, OfRankNoneAreOfAScalar) {
  const TensorArgument<float> scalar_tensor({});
  const TensorArgument<float> vector({1});
  EXPECT_EQ(received(__tvm_ffi_shaped_scalar, {scalar_tensor.any}), "ran;");
  EXPECT_EQ(received(__tvm_ffi_shaped_scalar, {vector.any}),
            "ValueError: shaped_scalar(): x: shape [1] does not match []");
}

TEST(ShapeDtypes, AreCheckedByTheLine) {
  EXPECT_EQ((call<float, double>(__tvm_ffi_shaped_silu, {3, 4}, {3, 8})),
            "TypeError: shaped_silu(): y: dtype float32 does not match x (float64)");
  const TensorArgument<float> x({3});
  const TensorArgument<double> y({3});
  KernkitAny float64{};
  float64.type_index = kKernkitDataType;
  float64.v.dtype = dl_float64;
  const auto f = __tvm_ffi_shaped_typed;
  EXPECT_EQ(received(f, {x.any, x.any, x.any}), "ran;");
  EXPECT_EQ(received(f, {y.any, x.any, x.any, float64}), "ran;");
  EXPECT_EQ(received(f, {y.any, x.any, x.any}),
            "TypeError: shaped_typed(): y: dtype float64 does not match x (float32)");
  EXPECT_EQ(received(f, {x.any, x.any, x.any, float64}),
            "TypeError: shaped_typed(): y: dtype float32 does not match t (float64)");
  EXPECT_EQ(received(f, {x.any, x.any, y.any}),
            "TypeError: shaped_typed(): z: dtype float64 does not match x (float32)");
  const TensorArgument<float> q({3, 8});
  EXPECT_EQ(received(__tvm_ffi_shaped_quantised, {q.any, q.any, q.any, integer(1)}),
            "TypeError: shaped_quantised(): q: dtype float32 is not supported; expected int8");
}

// Outputs in schema lines with "..." or with a list must have the dtype and device of the first
// input, as in schema lines with "n, d".
TEST(ShapeDtypes, OfAnOutputAreTheFirstInputs) {
  const TensorArgument<float> x({2, 3});
  const TensorArgument<double> wide({2, 3});
  const TensorArgument<float> vector({5});
  EXPECT_EQ(received(__tvm_ffi_shaped_by_second, {wide.any, vector.any, wide.any}),
            "TypeError: shaped_by_second(): y: dtype float64 does not match x (float32)");
  std::vector<KernkitAny> floats = {x.any, x.any};
  std::vector<KernkitAny> nothing;
  EXPECT_EQ(received(__tvm_ffi_shaped_total, {x.any, array_of(floats)}), "ran;");
  EXPECT_EQ(received(__tvm_ffi_shaped_total, {wide.any, array_of(floats)}),
            "TypeError: shaped_total(): y: dtype float64 does not match xs (float32)");
  EXPECT_EQ(received(__tvm_ffi_shaped_total, {x.any, array_of(nothing)}),
            "ValueError: shaped_total(): xs: is empty, but ... is determined by the first tensor");
  // An empty list that binds no size has no dtype with which the output's dtype could be compared.
  EXPECT_EQ(
      received(__tvm_ffi_shaped_of_any_list, {TensorArgument<double>({3}).any, array_of(nothing)}),
      "ran;");
  EXPECT_EQ(
      received(__tvm_ffi_shaped_of_any_list, {TensorArgument<double>({4}).any, array_of(nothing)}),
      "ValueError: shaped_of_any_list(): y: shape [4] does not match [3]");
  EXPECT_EQ(
      received(__tvm_ffi_shaped_of_any_list, {TensorArgument<double>({3}).any, array_of(floats)}),
      "TypeError: shaped_of_any_list(): y: dtype float64 does not match xs (float32)");
  // A dtype in the schema line replaces the dtype of the first input, but not the first input's
  // device.
  TensorArgument<int8_t> on_gpu({2, 3});
  on_gpu.tensor.dl()->device = {kDLCUDA, 1};
  EXPECT_EQ(received(__tvm_ffi_shaped_typed_dots, {on_gpu.any, x.any}),
            "ValueError: shaped_typed_dots(): y: device cuda:1 does not match x (cpu)");
  TensorArgument<float> list_on_gpu({2, 3});
  list_on_gpu.tensor.dl()->device = {kDLCUDA, 1};
  EXPECT_EQ(received(__tvm_ffi_shaped_total, {list_on_gpu.any, array_of(floats)}),
            "ValueError: shaped_total(): y: device cuda:1 does not match xs (cpu)");
}

TEST(ShapeDevices, OfOutputsAreTheFirstInputs) {
  TensorArgument<float> y({3, 4});
  TensorArgument<float> x({3, 8});
  x.tensor.dl()->device = {kDLCUDA, 1};
  EXPECT_EQ(received(__tvm_ffi_shaped_silu, {y.any, x.any}),
            "ValueError: shaped_silu(): y: device cpu does not match x (cuda:1)");
}

TEST(Shapes, OfAMissingTensorBindNothing) {
  const TensorArgument<float> x({3});
  const TensorArgument<float> w({3, 2});
  const TensorArgument<float> two({2});
  const TensorArgument<float> five({5});
  const TensorArgument<float> seven({7});
  const auto f = __tvm_ffi_shaped_chosen;
  EXPECT_EQ(received(f, {x.any, none(), none(), none()}), "ran;");
  EXPECT_EQ(received(f, {x.any, none(), two.any, five.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, w.any, two.any, seven.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, w.any, five.any, seven.any}),
            "ValueError: shaped_chosen(): i: shape [5] does not match [k] with k = 2 (bound by w)");
  EXPECT_EQ(received(f, {x.any, w.any, two.any, five.any}),
            "ValueError: shaped_chosen(): j: shape [5] does not match [2 * k + n] with k = 2 "
            "(bound by w), n = 3 (bound by x)");
  // The error about the dtype is reported, not an error about the size, which cannot be computed.
  const TensorArgument<double> wrong({5});
  EXPECT_EQ(received(f, {x.any, none(), two.any, wrong.any}),
            "TypeError: shaped_chosen(): j: dtype float64 does not match x (float32)");
  EXPECT_EQ(received(f, {x.any, none(), w.any, five.any}),
            "ValueError: shaped_chosen(): i: shape [3, 2] does not match [k]");
}

TEST(Shapes, OfAnEmptyListBindNothing) {
  const TensorArgument<float> x({3});
  const TensorArgument<float> y({3, 2});
  const TensorArgument<float> wide({2, 9});
  std::vector<KernkitAny> nothing;
  std::vector<KernkitAny> list_of_one = {y.any};
  const auto f = __tvm_ffi_shaped_listed;
  EXPECT_EQ(received(f, {x.any, none(), wide.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, array_of(nothing), wide.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, array_of(list_of_one), wide.any}), "ran;");
  EXPECT_EQ(received(f, {x.any, array_of(list_of_one), y.any}).substr(0, 57),
            "ValueError: shaped_listed(): z: shape [3, 2] does not mat");
  const TensorArgument<float> scalar({});
  EXPECT_EQ(received(__tvm_ffi_shaped_summed_last, {scalar.any, array_of(nothing)}),
            "ValueError: shaped_summed_last(): w: shape [] does not match [..., d]");
  EXPECT_EQ(
      received(__tvm_ffi_shaped_summed_last, {y.any, array_of(nothing)}),
      "ValueError: shaped_summed_last(): xs: is empty, but ... is determined by the first tensor");
}

TEST(Shapes, OfAListAreThoseOfEachElement) {
  const TensorArgument<float> y({3, 4});
  const TensorArgument<float> a({3, 4});
  const TensorArgument<float> b({3, 5});
  const auto f = __tvm_ffi_shaped_summed;
  const auto list = [](std::vector<KernkitAny>& items) {
    KernkitSeqCell cell{};
    cell.data = items.data();
    cell.size = static_cast<int64_t>(items.size());
    return Object<KernkitSeqCell>(kKernkitArray, cell);
  };
  std::vector<KernkitAny> alike = {a.any, a.any};
  std::vector<KernkitAny> unlike = {a.any, b.any};
  std::vector<KernkitAny> none_at_all;
  EXPECT_EQ(received(f, {y.any, list(alike).any()}), "ran;");
  EXPECT_EQ(received(f, {y.any, list(unlike).any()}),
            "ValueError: shaped_summed(): xs[1]: shape [3, 5] does not match [n, ...] with n = 3");
  EXPECT_EQ(
      received(f, {b.any, list(alike).any()}),
      "ValueError: shaped_summed(): y: shape [3, 5] does not match [n, ...] with n = 3 (bound by "
      "xs), ... = "
      "[4] (bound by xs)");
  EXPECT_EQ(received(f, {y.any, list(none_at_all).any()}),
            "ValueError: shaped_summed(): xs: is empty, but n is determined by the first tensor");
}

}  // namespace
}  // namespace kernkit
