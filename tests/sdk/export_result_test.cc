// SPDX-License-Identifier: Apache-2.0
// What an exported function returns, and tensors that it keeps.
#include <tuple>

#include "export_fixture.h"

namespace ops {

using kernkit::Tensor;

Tensor kept;
void keep(Tensor x) { kept = x; }
Tensor give_back(Tensor x) { return x; }
int64_t returns_int(int64_t x) { return x + 1; }
float returns_float() { return 2.5f; }
bool returns_bool() { return true; }
std::string returns_str() { return "text"; }
std::tuple<int64_t, Tensor> returns_pair(Tensor x) { return {7, x}; }

}  // namespace ops

KERNKIT_EXPORT(keep, "(Tensor x) -> ()", "", ops::keep)
KERNKIT_EXPORT(give_back, "(Tensor x) -> Tensor", "", ops::give_back)
KERNKIT_EXPORT(returns_int, "(int x) -> int", "", ops::returns_int)
KERNKIT_EXPORT(returns_float, "() -> float", "", ops::returns_float)
KERNKIT_EXPORT(returns_bool, "() -> bool", "", ops::returns_bool)
KERNKIT_EXPORT(returns_str, "() -> str", "", ops::returns_str)
KERNKIT_EXPORT(returns_pair, "(Tensor x) -> (int, Tensor)", "", ops::returns_pair)

namespace kernkit {
namespace {

TEST_F(Export, OwnedTensor) {
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  const uint64_t before = object.header.ref_counts;
  EXPECT_EQ(error(__tvm_ffi_keep, {object.any()}), "nothing");
  EXPECT_EQ(object.header.ref_counts, before + 1);
  EXPECT_EQ(ops::kept.use_count(), 2u);
  EXPECT_STREQ(ops::kept.view().name(), "x");
  ops::kept = Tensor();
  EXPECT_EQ(object.header.ref_counts, before);
  EXPECT_EQ(error(__tvm_ffi_keep, {x}),
            "TypeError: keep(): x: expected an owned Tensor, got DLTensor*");
}

TEST_F(Export, Results) {
  KernkitAny result = any(-5, -1);
  const KernkitAny one = integer(41);
  ASSERT_EQ(__tvm_ffi_returns_int(nullptr, &one, 1, &result), 0);
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
  EXPECT_EQ(
      error(__tvm_ffi_returns_str, {}),
      "RuntimeError: returns_str(): returns a str, which only a host can make, and none is in "
      "the process");
  Object<DLTensor> object(kKernkitTensor, *x_tensor.dl());
  EXPECT_EQ(
      error(__tvm_ffi_returns_pair, {object.any()}),
      "RuntimeError: returns_pair(): returns a tuple, which only a host can make, and none is "
      "in the process");
  EXPECT_EQ(object.header.ref_counts, (uint64_t{1} << 32) | 1) << "a reference was lost";
  EXPECT_EQ(error(__tvm_ffi__doc_keep, {}).substr(0, 21), "RuntimeError: keep():");
  EXPECT_EQ(error(__tvm_ffi__metadata_keep, {}).substr(0, 21), "RuntimeError: keep():");
}

}  // namespace
}  // namespace kernkit
