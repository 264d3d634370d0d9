// SPDX-License-Identifier: Apache-2.0
// Results of a call of the contract tests.
#include "kernkit/testing/contract/call.h"

#include <gtest/gtest.h>

#include "kernkit/cpu/allocator.h"
#include "kernkit/export.h"
#include "kernkit/owning_tensor.h"

namespace {

// Returns [[0, 1, 2], [3, 4, 5]], with the columns one after the other in memory.
kernkit::Tensor columns() {
  const int64_t sizes[] = {2, 3}, strides[] = {1, 2};
  kernkit::Tensor y = kernkit::Tensor::FromNDAllocStrided(
      kernkit::CPUNDAlloc(), kernkit::ShapeView(sizes, 2), kernkit::ShapeView(strides, 2),
      kernkit::dl_float32, {kDLCPU, 0});
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t k = 0; k < 3; ++k) y.data<float>()[i + 2 * k] = static_cast<float>(3 * i + k);
  }
  return y;
}

}  // namespace

KERNKIT_EXPORT(columns, "() -> Tensor", "", columns)

namespace kernkit::testing::contract {
namespace {

TEST(CallResults, AreInRowMajorOrder) {
  const Contract contract({"columns", __tvm_ffi_columns, __tvm_ffi__metadata_columns}, {});
  ASSERT_EQ(contract.problem(), "");
  Call call(contract, cpu_target());
  const Outcome outcome = call.run();
  ASSERT_TRUE(outcome.accepted) << outcome.text();
  ASSERT_EQ(call.results().size(), 1u);
  EXPECT_EQ(
      difference(call.results()[0].elements, make_elements(dl_float32, 6, {0, 1, 2, 3, 4, 5})), "");
}

}  // namespace
}  // namespace kernkit::testing::contract
