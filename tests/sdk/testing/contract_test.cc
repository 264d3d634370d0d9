// SPDX-License-Identifier: Apache-2.0
// Tests of the contract suite: for each rule, an op that breaks the rule fails this rule only.
#include "kernkit/testing/contract.h"

#include <gtest/gtest-spi.h>

#include <set>

#include "kernkit/cuda/launch.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"
#include "sanitizers.h"
#include "testing/contract_fixture.h"

namespace {

using namespace broken;  // the op

using kernkit::TensorView;
using kernkit::testing::by_row;
using kernkit::testing::contract::all_rules;
using kernkit::testing::contract::Contract;
using kernkit::testing::contract::Rule;
using kernkit::testing::contract::RuleTest;
using kernkit::testing::contract::try_rule;
using kernkit::testing::contract::try_rules;
using kernkit::testing::contract::Verdict;

struct Wrong {
  const char* name;
  Fault fault;
  std::set<std::string> red;
  bool by_row = false;

  Contract contract() const {
    return by_row ? contract_with(fault, {kernkit::testing::by_row()}) : contract_with(fault);
  }
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

#define WRONG(fault, ...)          \
  {                                \
#fault, fault, { __VA_ARGS__ } \
  }

const Wrong kWrongOps[] = {
    {"kNone", kNone, {}},
    WRONG(kIgnoresMoreArguments, "Count"),
    WRONG(kTakesNone, "None"),
    WRONG(kTakesText, "Types"),
    WRONG(kOtherDefault, "Defaults"),
    WRONG(kHasNoMessage, "Sentences"),
    WRONG(kThrowsThroughC, "CBoundary"),
    WRONG(kReturnsMinusOneOnly, "CBoundary"),
    WRONG(kWritesNothing, "Example"),
    WRONG(kWritesBeforeItChecks, "RejectedCallsWriteNothing"),
    WRONG(kWritesInput, "InputsAreNotWritten"),
    WRONG(kWritesPastTheEnd, "StaysInside"),
    WRONG(kIgnoresDtype, "MixedDtypes"),
    WRONG(kSwapsDtypes, "Dtypes"),
    WRONG(kIgnoresShape, "Shapes"),
    WRONG(kWrapsSizes, "ImpossibleShapes"),
    WRONG(kRejectsEmpty, "Empty"),
    WRONG(kIgnoresStrides, "Layouts"),
    WRONG(kTakesBroadcastOutput, "Layouts"),
    WRONG(kNeedsStrides, "NullStrides"),
    WRONG(kIgnoresByteOffset, "ByteOffset"),
    WRONG(kWrongWhenUnaligned, "Unaligned"),
    WRONG(kIgnoresOverlap, "PartialOverlap"),
    WRONG(kWrongInPlace, "InPlace"),
    WRONG(kWrongWhenShared, "SharedInputs"),
    {"kByRow", kNone, {}, true},
    {"kOtherBitsAmongOthers", kOtherBitsAmongOthers, {"RowAlone"}, true},
    {"kOtherBitsInEachRun", kOtherBitsInEachRun, {"RowAlone"}, true},
    WRONG(kIgnoresDevice, "MixedDevices"),
    WRONG(kTakesAnyDevice, "OtherDevices"),
    WRONG(kWrongOnCuda, "RunsOnCuda"),
    WRONG(kHasNoCuda, "RunsOnCuda"),
    WRONG(kDefaultStream, "CallersStream", "Capture"),
    WRONG(kDefaultStreamUnlessCaptured, "CallersStream"),
    WRONG(kNoGuard, "TensorsDevice"),
    WRONG(kLeavesDevice, "TensorsDevice"),
    WRONG(kSynchronises, "NoSynchronisation"),
    WRONG(kSynchronisesInPlace, "NoSynchronisation"),
    WRONG(kAllocates, "NoAllocation"),
    WRONG(kAllocatesInPlace, "NoAllocation"),
    WRONG(kLeaks, "NoAllocation"),
    WRONG(kGrowsScratch, "Scratch"),
    WRONG(kLaunchesNothingWhenCaptured, "Capture"),
    WRONG(kIgnoresLaunchError, "FailedLaunch"),
    WRONG(kRaisesEarlierError, "EarlierErrors"),
    WRONG(kReadsUninitialised, "Uninitialised"),
};

class ContractRules : public ::testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(, ContractRules, ::testing::ValuesIn(kWrongOps),
                         [](const auto& info) { return std::string(info.param.name + 1); });

TEST_P(ContractRules, FailAlone) {
  const Contract contract = GetParam().contract();
  ASSERT_EQ(contract.problem(), "");
  std::set<std::string> red;
  std::string text;
  const std::vector<Rule> rules = all_rules();
  const std::vector<Verdict> verdicts = try_rules(rules, contract);
  for (size_t i = 0; i < rules.size(); ++i) {
    if (verdicts[i].violations.empty()) continue;
    red.insert(rules[i].name);
    text += std::string(rules[i].name) + ": " + verdicts[i].violations[0] + "\n";
  }
  EXPECT_EQ(red, GetParam().red) << text;
  if (GetParam().fault == kGrowsScratch) {
    EXPECT_EQ(text,
              "Scratch: mix() on cuda:0: captured with larger tensors, it called cudaMalloc; "
              "expected scratch from the caller or alloc_tensor()\n");
  }
}

// [rules]
TEST(ContractRulesOf, EachRuleHasAnOpThatBreaksIt) {
  std::set<std::string> broken;
  for (const Wrong& wrong : kWrongOps) {
    if (wrong.red.size() == 1) broken.insert(*wrong.red.begin());
  }
  for (const Rule& rule : all_rules()) EXPECT_EQ(broken.count(rule.name), 1u) << rule.name;
}
// [/rules]

TEST(ContractRulesOf, RowsAreNamed) {
  for (const Rule& rule : all_rules()) {
    if (rule.name != std::string("RowAlone")) continue;
    const std::string end = "; expected the bits that it has among all 3";
    const Verdict alone = try_rule(rule, contract_with(kOtherBitsAmongOthers, {by_row()}));
    ASSERT_EQ(alone.violations.size(), 3u);
    EXPECT_EQ(alone.violations[2], "mix(): y has other bits in row 2 alone" + end);
    const Verdict again = try_rule(rule, contract_with(kOtherBitsInEachRun, {by_row()}));
    EXPECT_EQ(again.violations.at(0), "mix(): y has other bits in another run" + end);
    EXPECT_EQ(try_rule(rule, contract_with(kOtherBitsAmongOthers)).tried, 0u);
  }
}

#if defined(TEST_WITH_ASAN)
void try_rule_named(const std::string& name, const Contract& contract) {
  for (const Rule& rule : all_rules()) {
    if (rule.name == name) (void)try_rule(rule, contract);
  }
}

// AddressSanitizer and the simulator report reads past the end. The results are correct, because
// they do not depend on the bytes that are read there.
TEST(ContractDeathTest, ReadsPastTheEnd) {
  try_rule_named("ByteOffset", contract_with(kNone));
  EXPECT_DEATH(try_rule_named("ByteOffset", contract_with(kReadsPastTheEnd)), "use-after-poison");
  EXPECT_DEATH(
      try_rule_named("ByteOffset", contract_with(kReadsPastTheEndOnCuda)),
      "kernkit: in kernel .*mix_kernel<float>: block \\[0, 0, 0\\], thread \\[15, 0, 0\\]");
}
#endif

// A correct op that allocates its result with the caller's framework.
kernkit::Tensor tripled(TensorView x) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().contiguous();
  const int64_t n = x.numel();
  kernkit::Tensor y = kernkit::alloc_tensor(x.sizes(), x.dtype(), x.device());
  if (n == 0) return y;
  const kernkit::cuda::Launch launch(x);
  launch(mix_kernel<float>, {(n + 63) / 64, 64}, n, 2.0f, false, false, y.data<float>(),
         x.data<const float>(), x.data<const float>(), nullptr);
  return y;
}

// A correct op that writes different contents to `scratch` in each call.
void doubled(TensorView y, TensorView x, TensorView scratch) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cpu().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  KERNKIT_EXPECT(scratch).dtype(kernkit::dl_uint8).cpu().contiguous().no_overlap(x).no_overlap(y);
  static unsigned char calls = 0;
  ++calls;
  if (scratch.numel() > 1) scratch.data<uint8_t>()[1] = calls;
  for (int64_t i = 0; i < x.numel(); ++i) y.data<float>()[i] = 2 * x.data<const float>()[i];
}

}  // namespace

KERNKIT_EXPORT(doubled, "(Tensor(a!) y, Tensor x, Tensor(b!) scratch) -> ()", "2 * x.", doubled)
KERNKIT_TEST_CONTRACT(doubled, example<float>(9), example<float>(9), example<uint8_t>(4).scratch(),
                      cpu_only())

namespace {

TEST(ContractRulesOf, ScratchIsNoResult) {
  using kernkit::testing::example;
  for (const bool is_scratch : {false, true}) {
    auto scratch = example<uint8_t>(4);
    if (is_scratch) scratch = scratch.scratch();
    const Contract contract({"doubled", __tvm_ffi_doubled, __tvm_ffi__metadata_doubled},
                            {example<float>(9), example<float>(9), scratch},
                            {kernkit::testing::cpu_only()});
    std::string text;
    for (const Verdict& verdict : try_rules(all_rules(), contract)) {
      for (const std::string& violation : verdict.violations) text += violation + "\n";
    }
    if (is_scratch) {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_NE(text.find("scratch: element 1 is "), std::string::npos) << text;
    }
  }
}

}  // namespace

KERNKIT_EXPORT(tripled, "(Tensor x) -> Tensor", "3 * x.", tripled)
KERNKIT_TEST_CONTRACT(tripled, example<float>(100), cuda_only())
