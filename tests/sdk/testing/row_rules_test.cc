// SPDX-License-Identifier: Apache-2.0
// Tests the rule for ops that compute each row independently, with an op that returns another
// number of results, or a result of another size, for one row.
#include "kernkit/testing/contract/row_rules.h"

#include <gtest/gtest.h>

#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "kernkit/owning_tensor.h"

namespace {

using kernkit::TensorView;

// Result of rows_of() for one row: one element, an empty tensor or None. For several rows the
// result has one element for each row.
enum class OneRow { kElement, kEmpty, kNothing } one_row;

kernkit::Any rows_of(TensorView y, TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) y.data<float>()[i] = x.data<const float>()[i];
  const bool is_single = x.size(0) == 1;
  if (is_single && one_row == OneRow::kNothing) return {};
  const int64_t n = is_single && one_row == OneRow::kEmpty ? 0 : x.size(0);
  kernkit::Tensor z = kernkit::alloc_tensor({n}, kernkit::dl_float32, x.device());
  for (int64_t i = 0; i < n; ++i) z.data<float>()[i] = 1;
  return z;
}

}  // namespace

KERNKIT_EXPORT(rows_of, "(Tensor(a!) y, Tensor x) -> Any", "", rows_of)

namespace kernkit::testing::contract {
namespace {

TEST(RowAlone, ComparesNumberAndSizeOfResults) {
  const Contract contract({"rows_of", __tvm_ffi_rows_of, __tvm_ffi__metadata_rows_of},
                          {example<float>(3, 2), example<float>(3, 2)},
                          {{Exemption::kByRow, "", ""}});
  ASSERT_EQ(contract.problem(), "");
  const std::string end = " alone; expected the bits that it has among all 3";
  const auto violations = [&](OneRow how) {
    one_row = how;
    Verdict verdict;
    depends_on_the_row_alone(contract, &verdict);
    EXPECT_EQ(verdict.tried, 5u);
    return verdict.violations;
  };
  EXPECT_EQ(violations(OneRow::kElement), std::vector<std::string>());
  const std::string begin = "rows_of(): the result has other bits in row ";
  EXPECT_EQ(violations(OneRow::kEmpty),
            (std::vector<std::string>{begin + "0" + end, begin + "1" + end, begin + "2" + end}));
  EXPECT_EQ(violations(OneRow::kNothing),
            std::vector<std::string>(3, "rows_of(): it gives another number of results" + end));
}

}  // namespace
}  // namespace kernkit::testing::contract
