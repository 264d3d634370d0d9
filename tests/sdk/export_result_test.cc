// SPDX-License-Identifier: Apache-2.0
// Results of exported functions, and tensors that the functions keep.
#include <tuple>

#include "export_fixture.h"
#include "kernkit/owning_any.h"

namespace ops {

using kernkit::Any;
using kernkit::Tensor;

Tensor stored;
void keep(Tensor x) { stored = x; }
Tensor give_back(Tensor x) { return x; }
int64_t returns_int(int64_t x) { return x + 1; }
float returns_float() { return 2.5f; }
bool returns_bool() { return true; }
std::string returns_str() { return "text"; }
std::tuple<int64_t, Tensor> returns_pair(Tensor x) { return {7, x}; }

// Functions whose results are a tensor and a value that cannot be returned: without a host, no str
// or list can be created.
std::tuple<Tensor, std::string> and_str(Tensor x) { return {x, "text"}; }
std::tuple<Tensor, uint64_t> and_too_large(Tensor x) { return {x, uint64_t{1} << 63}; }
std::tuple<Tensor, Tensor, Tensor> and_undefined(Tensor x) { return {x, x, Tensor()}; }
std::tuple<Tensor, kernkit::ShapeView> and_list(Tensor x) { return {x, x.sizes()}; }
std::pair<Tensor, Any> and_nested(Tensor x) { return {x, std::make_tuple(x, Tensor())}; }
struct CannotBeReturned {};
std::tuple<Tensor, CannotBeReturned> and_throws(Tensor x) { return {x, {}}; }
uint64_t too_large() { return ~uint64_t{0}; }

}  // namespace ops

template <>
struct kernkit::detail::Result<ops::CannotBeReturned> : Result<int64_t> {
  static void set(KernkitAny*, ops::CannotBeReturned) { throw std::bad_alloc(); }
};

KERNKIT_EXPORT(keep, "(Tensor x) -> ()", "", ops::keep)
KERNKIT_EXPORT(give_back, "(Tensor x) -> Tensor", "", ops::give_back)
KERNKIT_EXPORT(returns_int, "(int x) -> int", "", ops::returns_int)
KERNKIT_EXPORT(returns_float, "() -> float", "", ops::returns_float)
KERNKIT_EXPORT(returns_bool, "() -> bool", "", ops::returns_bool)
KERNKIT_EXPORT(returns_str, "() -> str", "", ops::returns_str)
KERNKIT_EXPORT(returns_pair, "(Tensor x) -> (int, Tensor)", "", ops::returns_pair)
KERNKIT_EXPORT(and_str, "(Tensor x) -> (Tensor, str)", "", ops::and_str)
KERNKIT_EXPORT(and_too_large, "(Tensor x) -> (Tensor, int)", "", ops::and_too_large)
KERNKIT_EXPORT(and_undefined, "(Tensor x) -> (Tensor, Tensor, Tensor)", "", ops::and_undefined)
KERNKIT_EXPORT(and_list, "(Tensor x) -> (Tensor, int[])", "", ops::and_list)
KERNKIT_EXPORT(and_nested, "(Tensor x) -> (Tensor, Any)", "", ops::and_nested)
KERNKIT_EXPORT(and_throws, "(Tensor x) -> (Tensor, int)", "", ops::and_throws)
KERNKIT_EXPORT(too_large, "() -> int", "", ops::too_large)

namespace kernkit {
namespace {

TEST_F(Export, OwnedTensor) {
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  const uint64_t before = object.header.ref_counts;
  EXPECT_EQ(error(__tvm_ffi_keep, {object.any()}), "nothing");
  EXPECT_EQ(object.header.ref_counts, before + 1);
  EXPECT_EQ(ops::stored.use_count(), 2u);
  EXPECT_STREQ(ops::stored.view().name(), "x");
  ops::stored = Tensor();
  EXPECT_EQ(object.header.ref_counts, before);
  EXPECT_EQ(error(__tvm_ffi_keep, {x}),
            "TypeError: keep(): x: expected an owned Tensor, got DLTensor*");
}

TEST_F(Export, Results) {
  KernkitAny result = any(-5, -1);
  const KernkitAny argument = integer(41);
  ASSERT_EQ(__tvm_ffi_returns_int(nullptr, &argument, 1, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitInt);
  EXPECT_EQ(result.small_size, 0u);
  EXPECT_EQ(result.v.i64, 42);
  ASSERT_EQ(__tvm_ffi_returns_float(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitFloat);
  EXPECT_EQ(result.v.f64, 2.5);
  ASSERT_EQ(__tvm_ffi_returns_bool(nullptr, nullptr, 0, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitBool);
  EXPECT_EQ(result.v.i64, 1);
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  const KernkitAny tensor = object.any();
  ASSERT_EQ(__tvm_ffi_give_back(nullptr, &tensor, 1, &result), 0);
  EXPECT_EQ(result.type_index, kKernkitTensor);
  EXPECT_EQ(result.v.object, &object.header);
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 2) << "the result owns one reference";
}

TEST_F(Export, ResultsThatNeedAHost) {
  EXPECT_EQ(error(__tvm_ffi_returns_str, {}),
            "RuntimeError: returns_str(): returns a str, which needs a host; found no host in this "
            "process; load a host first, such as tvm_ffi");
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  EXPECT_EQ(
      error(__tvm_ffi_returns_pair, {object.any()}),
      "RuntimeError: returns_pair(): returns a tuple, which needs a host; found no host in this "
      "process; load a host first, such as tvm_ffi");
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 1) << "a reference was lost";
  EXPECT_EQ(error(__tvm_ffi__doc_keep, {}).substr(0, 21), "RuntimeError: keep():");
  EXPECT_EQ(error(__tvm_ffi__metadata_keep, {}).substr(0, 21), "RuntimeError: keep():");
}

// Earlier elements of a tuple are released if a later element cannot be returned.
TEST_F(Export, FailingTupleReleasesItsElements) {
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  const uint64_t before = object.header.ref_counts;
  const auto rejection = [&](KernkitFunction function) {
    const std::string message = error(function, {object.any()});
    EXPECT_EQ(object.header.ref_counts, before) << message;
    object.header.ref_counts = before;
    return message;
  };
  const std::string no_host =
      ", which needs a host; found no host in this process; load a host first, such as tvm_ffi";
  EXPECT_EQ(rejection(__tvm_ffi_and_str), "RuntimeError: and_str(): returns a str" + no_host);
  EXPECT_EQ(rejection(__tvm_ffi_and_list), "RuntimeError: and_list(): returns a list" + no_host);
  EXPECT_EQ(rejection(__tvm_ffi_and_too_large),
            "ValueError: and_too_large(): returns 9223372036854775808, which exceeds the range of "
            "int (64 bits with a sign)");
  const std::string undefined =
      "internal check failed: value.defined() an undefined Tensor was returned";
  EXPECT_EQ(rejection(__tvm_ffi_and_undefined), "InternalError: and_undefined(): " + undefined);
  EXPECT_EQ(rejection(__tvm_ffi_and_nested), "InternalError: and_nested(): " + undefined);
  EXPECT_EQ(rejection(__tvm_ffi_and_throws), "MemoryError: and_throws(): out of memory");
  EXPECT_EQ(rejection(__tvm_ffi_returns_pair),
            "RuntimeError: returns_pair(): returns a tuple" + no_host);
}

TEST_F(Export, FailureLeavesTheResultAlone) {
  // error() checks that the result is unchanged.
  EXPECT_EQ(error(__tvm_ffi_too_large, {}),
            "ValueError: too_large(): returns 18446744073709551615, which exceeds the range of int "
            "(64 bits with a sign)");
}

}  // namespace
}  // namespace kernkit
