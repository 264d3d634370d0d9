// SPDX-License-Identifier: Apache-2.0
// Ops that do not match their schema lines, and the rules that detect them.
#include "kernkit/testing/line.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "kernkit/expect.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace {

using kernkit::alloc_tensor;
using kernkit::dl_float32;
using kernkit::dl_int64;
using kernkit::ShapeView;
using kernkit::Tensor;
using kernkit::TensorView;

void check(TensorView x) { KERNKIT_EXPECT(x).dtype(dl_float32).cpu().contiguous(); }

template <bool Adds>
void copy(TensorView y, TensorView x) {
  check(x);
  check(y);
  for (int64_t i = 0; i < x.numel(); ++i) {
    y.data<float>()[i] = x.data<const float>()[i] + (Adds ? y.data<float>()[i] : 0);
  }
}
void copy_and_clear(TensorView y, TensorView x) {
  copy<false>(y, x);
  for (int64_t i = 0; i < x.numel(); ++i)
    static_cast<float*>(const_cast<void*>(x.data_ptr()))[i] = 0;
}
void copy_alike(TensorView y, TensorView x) {
  KERNKIT_EXPECT(y).like(x);
  copy<false>(y, x);
}
Tensor filled(int64_t rows, int64_t columns, DLDataType dtype) {
  const int64_t sizes[] = {rows, columns};
  Tensor y = alloc_tensor(ShapeView(sizes, 2), dtype, {kDLCPU, 0});
  memset(y.data_ptr(), 0, static_cast<size_t>(rows * columns) * dtype.bits / 8);
  return y;
}
Tensor zeros(TensorView x) {
  check(x);
  return filled(x.size(0), x.size(1), dl_float32);
}
Tensor zeros_transposed(TensorView x) {
  check(x);
  return filled(x.size(1), x.size(0), dl_float32);
}

template <bool Largest>
void normalised(TensorView y, TensorView x) {
  check(x);
  check(y);
  float sum = 0, largest = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    sum += x.data<const float>()[i];
    largest = std::max(largest, x.data<const float>()[i]);
  }
  for (int64_t i = 0; i < x.numel(); ++i) {
    y.data<float>()[i] = x.data<const float>()[i] / (Largest ? largest : sum);
  }
}

// The result that the last call of values_back() kept.
Tensor stored;
// Returns a copy of x (`how` is 0), x itself (1), or a copy that the op keeps (2).
Tensor values_back(Tensor x, int64_t how) {
  Tensor y = alloc_tensor(x.sizes(), x.dtype(), x.device());
  memcpy(y.data_ptr(), x.read_only_view().data_ptr(), kernkit::GetDataSize(x.read_only_view()));
  stored = how == 2 ? y : Tensor();
  return how == 1 ? x : y;
}
std::tuple<Tensor, Tensor> twice(TensorView x, int64_t how) {
  Tensor y = alloc_tensor(x.sizes(), x.dtype(), x.device());
  Tensor z = alloc_tensor(x.sizes(), x.dtype(), x.device());
  memcpy(y.data_ptr(), x.data_ptr(), kernkit::GetDataSize(x));
  memcpy(z.data_ptr(), x.data_ptr(), kernkit::GetDataSize(x));
  return {y, how == 1 ? y : z};
}
// An allocator whose tensors are in the memory at `data`.
struct Borrowed {
  void* data;
  void AllocData(DLTensor* x) const { x->data = data; }
  void FreeData(DLTensor*) const {}
};
Tensor borrowed(kernkit::ListView<TensorView> xs, int64_t which) {
  const TensorView x = xs[static_cast<size_t>(which < 0 ? 0 : which)];
  if (which < 0) return zeros(x);
  return Tensor::FromNDAlloc(Borrowed{x.data_ptr()}, x.sizes(), x.dtype(), x.device());
}
Tensor zeros_of_list(kernkit::ListView<TensorView> xs) { return zeros(xs[0]); }
Tensor zeros_as(TensorView x, DLDataType dtype, kernkit::Optional<int64_t>) {
  return filled(x.size(0), x.size(1), dtype);
}

}  // namespace

KERNKIT_EXPORT(line_each, "(Tensor(out!) y[each...], Tensor x[each...]) -> ()", "", copy<false>)
KERNKIT_EXPORT(line_of_sum, "(Tensor(out!) y[each...], Tensor x[each...]) -> ()", "",
               normalised<false>)
KERNKIT_EXPORT(line_of_largest, "(Tensor(out!) y[each...], Tensor x[each...]) -> ()", "",
               normalised<true>)
KERNKIT_EXPORT(line_any_sum, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", normalised<false>)
KERNKIT_EXPORT(line_back, "(Tensor x[...], int how=0) -> Tensor y[...]", "", values_back)
KERNKIT_EXPORT(line_any_back, "(Tensor x, int how=0) -> Tensor", "", values_back)
KERNKIT_EXPORT(line_twice, "(Tensor x[...], int how=0) -> (Tensor y[...], Tensor z[...])", "",
               twice)
KERNKIT_EXPORT(line_borrowed, "(Tensor[] xs[...], int which=-1) -> Tensor y[...]", "", borrowed)
KERNKIT_EXPORT(line_copy, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", copy<false>)
KERNKIT_EXPORT(line_add, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", copy<true>)
KERNKIT_EXPORT(line_clear, "(Tensor(out!) y[...], Tensor x[...]) -> ()", "", copy_and_clear)
KERNKIT_EXPORT(line_half, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()", "", copy_alike)
KERNKIT_EXPORT(line_zeros, "(Tensor x[n, d]) -> Tensor y[n, d]", "", zeros)
KERNKIT_EXPORT(line_turned, "(Tensor x[n, d]) -> Tensor y[n, d]", "", zeros_transposed)
KERNKIT_EXPORT(line_wide, "(Tensor x[n, d]) -> Tensor y[n, d]: float64", "", zeros)
KERNKIT_EXPORT(line_of_list, "(Tensor[] xs[n, ...]) -> Tensor y[n, ...]", "", zeros_of_list)
KERNKIT_EXPORT(line_of_list_counted, "(Tensor[] xs[...]) -> Tensor y[numel(...)]", "",
               zeros_of_list)
KERNKIT_EXPORT(line_default,
               "(Tensor x[n, d], ScalarType t=float32, int? k=None) -> Tensor y[n, d]: t", "",
               zeros_as)

// [line]
KERNKIT_TEST_LINE(line_copy, example<float>(4, 3), example<float>(4, 3), cpu_only())
// [/line]
KERNKIT_TEST_LINE(line_zeros, example<float>(4, 3), cpu_only())
KERNKIT_TEST_LINE(line_of_list, list(example<float>(4, 3), example<float>(4, 3)), cpu_only())
KERNKIT_TEST_LINE(line_default, example<float>(4, 3), cpu_only())

namespace kernkit::testing::contract {
namespace {

#define CONTRACT_OF(op, ...) \
  make_contract(#op, __tvm_ffi_##op, __tvm_ffi__metadata_##op, {__VA_ARGS__, cpu_only()})

TEST(LineRules, FindMismatchesWithTheLine) {
  const auto x = example<float>(4, 3);
  EXPECT_EQ(line_failure(CONTRACT_OF(line_add, x, x)),
            "line_add() with other old contents of y: y: the bytes differ; expected that an (out!) "
            "tensor is never read");
  EXPECT_EQ(line_failure(CONTRACT_OF(line_turned, x)),
            "line_turned(): result y: shape [3, 4] does not match [n, d] with n = 4 (bound by x), "
            "d = 3 (bound by x)");
  EXPECT_EQ(line_failure(CONTRACT_OF(line_wide, x)),
            "line_wide(): result y: dtype float32 is not supported; expected float64");
  EXPECT_EQ(line_failure(CONTRACT_OF(line_of_list_counted, list(x, x))),
            "line_of_list_counted(): result y: shape [4, 3] does not match [numel(...)]");
  EXPECT_EQ(line_failure(CONTRACT_OF(line_default, x, dl_float32, nullptr)), "");
}

TEST(LineRules, ABatchGivesWhatItsItemsGive) {
  const auto x = example<float>(4, 33);
  EXPECT_EQ(line_failure(CONTRACT_OF(line_each, x, x)), "");
  EXPECT_EQ(line_failure(CONTRACT_OF(line_any_sum, x, x)), "");  // promises nothing
  for (const std::string& failure : {line_failure(CONTRACT_OF(line_of_sum, x, x)),
                                     line_failure(CONTRACT_OF(line_of_largest, x, x))}) {
    EXPECT_NE(failure.find("in item "), std::string::npos) << failure;
    EXPECT_NE(failure.find("of a batch of two; expected the results of a call for each item"),
              std::string::npos)
        << failure;
  }
}

// A call raises an error if a result is an argument or another result, or if the op keeps the
// result.
TEST(LineRules, ResultsAreNewMemory) {
  const auto x = example<float>(4, 3);
  const auto error_of = [](const Contract& contract) {
    Call call(contract, cpu_target());
    const Outcome outcome = call.run();
    return outcome.accepted ? std::string() : outcome.kind + ": " + outcome.message;
  };
  const std::string remedy =
      "; a result with a shape in the schema line must be new memory: return a copy, or remove the "
      "shape from the schema line";
  EXPECT_EQ(error_of(CONTRACT_OF(line_back, x)), "");
  EXPECT_EQ(error_of(CONTRACT_OF(line_back, x, 1)),
            "RuntimeError: line_back(): y: the result shares memory with the argument x" + remedy);
  EXPECT_EQ(
      error_of(CONTRACT_OF(line_back, x, 2)),
      "RuntimeError: line_back(): y: the result has 2 owners; a result with a shape in the schema "
      "line must be new memory that only the caller owns: return a copy, or remove the shape from "
      "the schema line");
  EXPECT_EQ(error_of(CONTRACT_OF(line_any_back, x, 1)), "");
  EXPECT_EQ(error_of(CONTRACT_OF(line_any_back, x, 2)), "");
  EXPECT_EQ(error_of(CONTRACT_OF(line_twice, x)), "");
  EXPECT_EQ(error_of(CONTRACT_OF(line_twice, x, 1)),
            "RuntimeError: line_twice(): y: the result shares memory with the result z" + remedy);
  EXPECT_EQ(line_failure(CONTRACT_OF(line_back, x)), "");
  EXPECT_EQ(error_of(CONTRACT_OF(line_borrowed, list(x, x))), "");
  for (const int which : {0, 1}) {
    EXPECT_EQ(
        error_of(CONTRACT_OF(line_borrowed, list(x, x), which)),
        "RuntimeError: line_borrowed(): y: the result shares memory with the argument xs" + remedy);
  }
}

TEST(LineRules, TheContractsRulesFindOtherFaults) {
  const auto x = example<float>(4, 3);
  const auto failure_of = [](const char* name, const Contract& contract) -> std::string {
    for (const Rule& rule : all_rules()) {
      if (rule.name == std::string(name)) return report_of(rule, contract).failure;
    }
    return "there is no such rule";
  };
  EXPECT_EQ(failure_of("InputsAreNotWritten", CONTRACT_OF(line_copy, x, x)), "");
  EXPECT_NE(failure_of("InputsAreNotWritten", CONTRACT_OF(line_clear, x, x)), "");
  const Contract half = CONTRACT_OF(line_half, x, example<float>(4, 6));
  EXPECT_NE(failure_of("Example", half).find("does not match"), std::string::npos);
}

}  // namespace
}  // namespace kernkit::testing::contract
