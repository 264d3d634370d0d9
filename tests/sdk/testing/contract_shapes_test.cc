// SPDX-License-Identifier: Apache-2.0
// Correct ops of many kinds pass every rule. Also tests the reports of the contract suite as
// GoogleTest tests.
#include <utility>

#include "kernkit/call/export_typed.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/testing/contract.h"

namespace {

using kernkit::Tensor;
using kernkit::TensorView;
using Types = kernkit::types<float, double>;

// y = the means of the rows of x, also for tensors with strides. The means are NaN if x has no
// columns.
void row_mean(TensorView y, TensorView x) {
  kernkit::Dim n("n"), d("d");
  KERNKIT_EXPECT(x).dtype(Types{}).cpu().shape(n, d);
  KERNKIT_EXPECT(y).same_dtype(x).same_device(x).shape(n).no_overlap(x);
  kernkit::dispatch(Types{}, x.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    for (int64_t i = 0; i < n.value(); ++i) {
      T sum = 0;
      for (int64_t j = 0; j < d.value(); ++j) {
        sum += x.data<T>()[i * x.stride(0) + j * x.stride(1)];
      }
      y.data<T>()[i * y.stride(0)] = sum / static_cast<T>(d.value());
    }
  });
}

void accumulate(TensorView y, TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  for (int64_t i = 0; i < x.numel(); ++i) y.data<float>()[i] += x.data<float>()[i];
}

// y[i] = x[index[i]]
void gather(TensorView y, TensorView x, TensorView index) {
  kernkit::Dim n("n"), m("m");
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().shape(m).contiguous();
  KERNKIT_EXPECT(index).dtype(kernkit::dl_int64).same_device(x).shape(n).contiguous();
  KERNKIT_EXPECT(y).same_dtype(x).same_device(x).shape(n).contiguous();
  KERNKIT_EXPECT(y).no_overlap(x).no_overlap(index);
  for (int64_t i = 0; i < n.value(); ++i) {
    const int64_t k = index.data<int64_t>()[i];
    KERNKIT_CHECK(k >= 0 && k < m.value(), ValueError) << "index: " << k << " is out of range";
  }
  for (int64_t i = 0; i < n.value(); ++i) {
    y.data<float>()[i] = x.data<float>()[index.data<int64_t>()[i]];
  }
}

// Copies the first half of x, whose elements are bytes, to `low` and the second half to `high`.
void split(TensorView low, TensorView high, TensorView x) {
  kernkit::Dim n("n");
  KERNKIT_EXPECT(low).dtype(kernkit::dl_uint8).cpu().shape(n).contiguous();
  KERNKIT_EXPECT(high).like(low).contiguous().no_overlap(low);
  KERNKIT_EXPECT(x).same_dtype(low).same_device(low).shape(2 * n).contiguous();
  KERNKIT_EXPECT(x).no_overlap(low).no_overlap(high);
  if (n.value() == 0) return;
  memcpy(low.data_ptr(), x.data_ptr(), static_cast<size_t>(n.value()));
  memcpy(high.data_ptr(), x.data<uint8_t>() + n.value(), static_cast<size_t>(n.value()));
}

// An op with a list, a bool, an optional and a dtype as parameters. Returns a tensor and the number
// of elements of `dims`.
std::pair<Tensor, int64_t> filled(TensorView like, kernkit::ListView<int64_t> dims, bool twice,
                                  kernkit::Optional<double> value, DLDataType dtype) {
  KERNKIT_EXPECT(like).dtype(kernkit::dl_float32).cpu();
  KERNKIT_CHECK(dtype == kernkit::dl_float32, TypeError) << "dtype: must be float32";
  const int64_t n = like.numel();
  Tensor y = kernkit::alloc_tensor(like.sizes(), dtype, like.device());
  const auto element = static_cast<float>(value.value_or(1) * (twice ? 2 : 1));
  for (int64_t i = 0; i < n; ++i) y.data<float>()[i] = element;
  return {y, static_cast<int64_t>(dims.size())};
}

// An op with an owning parameter, which accepts no borrowed tensor.
double sum_of_owned(Tensor x) {
  KERNKIT_EXPECT(x.read_only_view()).dtype(kernkit::dl_float32).cpu().contiguous();
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += static_cast<double>(x.data<float>()[i]);
  return sum;
}

// Concatenates the elements of xs. Without ChecksAll, the op incorrectly checks only the first
// tensor.
template <bool ChecksAll>
void concat(TensorView y, kernkit::ListView<TensorView> xs) {
  KERNKIT_EXPECT(y).dtype(kernkit::dl_float32).cpu().rank(1).contiguous();
  int64_t n = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!ChecksAll && i > 0) break;
    KERNKIT_EXPECT(xs[i]).same_dtype(y).same_device(y).rank(1).contiguous();
    KERNKIT_EXPECT(y).no_overlap(xs[i]);
  }
  for (size_t i = 0; i < xs.size(); ++i) n += xs[i].numel();
  KERNKIT_CHECK(y.numel() == n, ValueError)
      << "y: has " << y.numel() << " elements, expected " << n << ", as many as those of xs";
  auto* out = y.data<float>();
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto* x = static_cast<const float*>(xs[i].data_ptr());
    for (int64_t k = 0; k < xs[i].numel(); ++k) *out++ = x[k];
  }
}

// Writes x + by[i] to ys[i].
void shifted(kernkit::ListView<TensorView> ys, TensorView x, kernkit::ListView<double> by) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_CHECK(ys.size() == by.size(), ValueError) << "ys: must be as many as by";
  for (size_t i = 0; i < ys.size(); ++i) {
    KERNKIT_EXPECT(ys[i]).like(x).contiguous().no_overlap(x);
    for (size_t k = 0; k < i; ++k) KERNKIT_EXPECT(ys[i]).no_overlap(ys[k]);
  }
  for (size_t i = 0; i < ys.size(); ++i) {
    auto* y = ys[i].data<float>();
    for (int64_t k = 0; k < x.numel(); ++k) y[k] = x.data<float>()[k] + static_cast<float>(by[i]);
  }
}

// An incorrect op, which copies elements as floats without checking the dtype.
void careless(TensorView y, TensorView x) {
  for (int64_t i = 0; i < y.numel(); ++i) {
    static_cast<float*>(y.data_ptr())[i] = static_cast<const float*>(x.data_ptr())[i];
  }
}

}  // namespace

KERNKIT_EXPORT(row_mean, "(Tensor(a!) y, Tensor x) -> ()", "", row_mean)
KERNKIT_EXPORT(accumulate, "(Tensor(a!) y, Tensor x) -> ()", "", accumulate)
KERNKIT_EXPORT(gather, "(Tensor(a!) y, Tensor x, Tensor index) -> ()", "", gather)
KERNKIT_EXPORT(split, "(Tensor(a!) low, Tensor(b!) high, Tensor x) -> ()", "", split)
KERNKIT_EXPORT(filled,
               "(Tensor like, int[] dims, bool twice=True, float? value=None, "
               "ScalarType dtype=float32) -> (Tensor, int)",
               "", filled)
KERNKIT_EXPORT(sum_of_owned, "(Tensor x) -> float", "", sum_of_owned)
KERNKIT_EXPORT(concat, "(Tensor(a!) y, Tensor[] xs) -> ()", "", concat<true>)
KERNKIT_EXPORT(concat_carelessly, "(Tensor(a!) y, Tensor[] xs) -> ()", "", concat<false>)
KERNKIT_EXPORT(shifted, "(Tensor(a!)[] ys, Tensor x, float[] by) -> ()", "", shifted)
KERNKIT_EXPORT(careless, "(Tensor(a!) y, Tensor x) -> ()", "", careless)
KERNKIT_EXPORT_TYPED(typed_mean, row_mean)
KERNKIT_EXPORT_TYPED(typed_concat, concat<true>)

KERNKIT_TEST_CONTRACT(row_mean, example<float>(4), example<float>(4, 7), cpu_only())
KERNKIT_TEST_CONTRACT(accumulate, example<float>(5, 3), example<float>(5, 3), cpu_only())
KERNKIT_TEST_CONTRACT(gather, example<float>(4), example<float>(6),
                      example<int64_t>(4).values({3, 0, 2, 2}), cpu_only())
KERNKIT_TEST_CONTRACT(split, example<uint8_t>(6), example<uint8_t>(6), example<uint8_t>(12),
                      cpu_only())
KERNKIT_TEST_CONTRACT(filled, example<float>(4, 3), kernkit::ShapeView({1, 2}), true, nullptr,
                      kernkit::dl_float32, cpu_only())
KERNKIT_TEST_CONTRACT(filled, example<float>(5), kernkit::ShapeView({1, 2}), false, 2.5, cpu_only())
KERNKIT_TEST_CONTRACT(sum_of_owned, example<float>(4, 3), cpu_only())
KERNKIT_TEST_CONTRACT(concat, example<float>(9), list(example<float>(4), example<float>(5)),
                      cpu_only())
KERNKIT_TEST_CONTRACT(shifted, list(example<float>(4, 3), example<float>(4, 3)),
                      example<float>(4, 3), list(1.0, 2.5), cpu_only())
KERNKIT_TEST_CONTRACT(typed_mean, example<float>(4), example<float>(4, 7), cpu_only(),
                      with_schema("(Tensor(a!) y, Tensor x) -> ()"))
KERNKIT_TEST_CONTRACT(typed_concat, example<float>(9), list(example<float>(4), example<float>(5)),
                      cpu_only(), with_schema("(Tensor(a!) y, Tensor[] xs) -> ()"))

namespace kernkit::testing::contract {
namespace {

Contract concat_with(std::initializer_list<Item> items, bool carelessly = true) {
  return carelessly ? make_contract("concat", __tvm_ffi_concat_carelessly,
                                    __tvm_ffi__metadata_concat_carelessly, items)
                    : make_contract("concat", __tvm_ffi_concat, __tvm_ffi__metadata_concat, items);
}
Contract careless_with(std::initializer_list<Item> items) {
  return make_contract("careless", __tvm_ffi_careless, __tvm_ffi__metadata_careless, items);
}
std::string failure_of(const char* name, const Contract& contract) {
  for (const Rule& rule : all_rules()) {
    if (rule.name == std::string(name)) return report_of(rule, contract).failure;
  }
  return "there is no such rule";
}

TEST(ContractReport, AViolationIsASentence) {
  const Contract careless = careless_with({example<float>(3), example<float>(3), cpu_only()});
  EXPECT_EQ(failure_of("ByteOffset", careless), "");
  const std::string device = failure_of("OtherDevices", careless);
  EXPECT_EQ(device.substr(0, device.find('\n')),
            "careless() with every tensor declared to be on rocm:0: it returned without an error; "
            "expected a ValueError that names y or x.");
  const std::string last =
      "\nThe rule OtherDevices: a device for which the op has no code raises ValueError.";
  EXPECT_EQ(device.substr(device.rfind('\n')), last);
  const std::string layout = failure_of("Layouts", careless);
  EXPECT_EQ(layout.substr(0, layout.find('\n')),
            "careless() with non-contiguous y (strides [2]): y: element 1 is 10, not 5; expected "
            "what dense and aligned tensors give, or a ValueError that names y.");
  const std::string message = failure_of("MixedDtypes", careless);
  EXPECT_NE(message.find("\nAnd "), std::string::npos) << message;
  EXPECT_NE(message.find(" more of 32 calls.\nThe rule MixedDtypes: "), std::string::npos)
      << message;
}

// The rules vary every element of a list. An op that checks only the first element breaks each of
// these rules with the second element.
TEST(ContractLists, EveryElementIsVaried) {
  const std::initializer_list<Item> items = {
      example<float>(9), list(example<float>(4), example<float>(5)), cpu_only()};
  const Contract careless = concat_with(items);
  const std::pair<const char*, const char*> first_lines[] = {
      {"MixedDtypes", "concat() with xs[1] of float16: "},
      {"Layouts", "concat() with non-contiguous xs[1] (strides [2]): y: element 5 is "},
      {"PartialOverlap", "concat() with y in the memory of xs[1], -1 elements from its first: "},
      {"MixedDevices", "concat() with xs[1] declared to be on "},
  };
  for (const auto& [rule, line] : first_lines) {
    EXPECT_EQ(failure_of(rule, concat_with(items, false)), "") << rule;
    const std::string failure = failure_of(rule, careless);
    EXPECT_EQ(failure.substr(0, strlen(line)), line);
    EXPECT_NE(failure.find("Error that names "), std::string::npos) << rule;
  }
  for (const char* rule : {"None", "Types", "Empty", "ByteOffset", "NullStrides"}) {
    EXPECT_EQ(failure_of(rule, careless), "");
  }
}

TEST(ContractLists, TheElementsAreThoseOfTheExample) {
  const Rule rule = all_rules()[0];
  const Contract no_list = concat_with({example<float>(9), example<float>(9)});
  EXPECT_EQ(report_of(rule, no_list).failure,
            "concat(Tensor(a!) y, Tensor[] xs) -> (): the example of xs is a tensor");
  const Contract list_for_one = concat_with({list(example<float>(9)), nullptr});
  EXPECT_EQ(report_of(rule, list_for_one).failure,
            "concat(Tensor(a!) y, Tensor[] xs) -> (): the example of y is a list");
  const Contract nested = concat_with({example<float>(9), list(list(example<float>(9)))});
  EXPECT_EQ(report_of(rule, nested).failure,
            "concat(Tensor(a!) y, Tensor[] xs) -> (): the example of xs[0] is a list");
}

TEST(ContractReport, ExemptionsAreChecked) {
  const Rule rule = all_rules()[0];
  EXPECT_EQ(report_of(rule, careless_with({example<float>(3)})).failure,
            "careless(Tensor(a!) y, Tensor x) -> (): the example has 1 argument");
  EXPECT_EQ(
      report_of(rule, careless_with({example<float>(3), 2, without("Layout", "of bytes")})).failure,
      "without(\"Layout\"): there is no such rule");
  const Report excused = report_of(
      rule, careless_with({example<float>(3), example<float>(3), without(rule.name, "of bytes")}));
  EXPECT_EQ(excused.failure, "");
  EXPECT_EQ(excused.skipped, "careless is excused: of bytes");
  const auto no_metadata = [](void*, const KernkitAny*, int32_t, KernkitAny* result) {
    kernkit::detail::set_string(result, "{}", 2);
    return 0;
  };
  EXPECT_EQ(report_of(rule, make_contract("careless", __tvm_ffi_careless, no_metadata, {})).failure,
            "careless: its metadata have no schema line; export it with KERNKIT_EXPORT");
}

TEST(ContractReport, ASchemaBesideTheOpFitsItsParameters) {
  const Rule rule = all_rules()[0];
  const auto typed_mean = [&](const char* line) {
    return report_of(rule, make_contract(
                               "typed_mean", __tvm_ffi_typed_mean, __tvm_ffi__metadata_typed_mean,
                               {example<float>(4), example<float>(4, 7), with_schema(line)}))
        .failure;
  };
  EXPECT_EQ(typed_mean("(Tensor(a!) y, Tensor x) -> ()"), "");
  for (const char* line : {"(Tensor y) -> ()", "(Tensor(a!) y, int x) -> ()", "(Tensor(a!) y",
                           "(Tensor(a!) y, Tensor[] x) -> ()", "(Tensor(a!) y, Tensor? x) -> ()",
                           "(Tensor(a!) y, Tensor? x=None) -> ()"}) {
    EXPECT_EQ(typed_mean(line), std::string("typed_mean: with_schema(\"") + line +
                                    "\"): expected an op without a schema line, and a line "
                                    "without defaults that matches the C++ parameters");
  }
  const Contract has_one = careless_with(
      {example<float>(3), example<float>(3), with_schema("(Tensor y, Tensor x) -> ()")});
  EXPECT_NE(report_of(rule, has_one).failure, "");
}

// The rule InputsAreNotWritten reports that the op writes y, because with_schema() does not mark y
// as an output.
TEST(ContractReport, ASchemaBesideTheOpMarksOutputs) {
  const Contract contract = make_contract(
      "typed_mean", __tvm_ffi_typed_mean, __tvm_ffi__metadata_typed_mean,
      {example<float>(4), example<float>(4, 7), with_schema("(Tensor y, Tensor x) -> ()")});
  EXPECT_NE(failure_of("InputsAreNotWritten", contract), "");
}

}  // namespace
}  // namespace kernkit::testing::contract
