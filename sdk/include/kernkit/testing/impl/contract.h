// SPDX-License-Identifier: Apache-2.0
// Registration and reports of the tests of KERNKIT_TEST_CONTRACT.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract.h"
#include "kernkit/testing/contract/call_rules.h"
#include "kernkit/testing/impl/crash.h"
#if defined(KERNKIT_ON_GPU)
#include "kernkit/testing/contract/gpu_rules.h"
#elif defined(KERNKIT_ON_FIBERS)
#include "kernkit/testing/contract/simulator_rules.h"
#endif

namespace kernkit::testing::contract {

/// Returns the rules of this program, in the order of their tests: cpu_rules(), then, in a program
/// for CUDA, the rules of the simulator or of a GPU. Throws only std::bad_alloc.
inline std::vector<Rule> all_rules() {
  std::vector<Rule> rules = cpu_rules();
#if defined(KERNKIT_ON_GPU)
  for (const Rule& rule : gpu::rules()) rules.push_back(rule);
#elif defined(KERNKIT_ON_FIBERS)
  for (const Rule& rule : simulator_rules()) rules.push_back(rule);
#endif
  return rules;
}

/// Returns the contract of an op with these arguments and exemptions, in order. `function` and
/// `metadata` are the op's symbols, see Callee. Contract::problem() reports arguments that do not
/// match the op's schema line. Throws the errors of Callee's constructor.
inline Contract make_contract(const char* op, KernkitFunction function, KernkitFunction metadata,
                              const std::vector<Item>& items) {
  std::vector<Example> examples;
  std::vector<Exemption> exemptions;
  for (const Item& item : items) item.add_to(&examples, &exemptions);
  Callee callee(op, function, metadata);
  for (const Exemption& exemption : exemptions) {
    if (exemption.kind == Exemption::kWithSchema) callee.take_schema(exemption.reason);
  }
  return Contract(std::move(callee), examples, std::move(exemptions));
}

/// The report of one rule to GoogleTest. At most one of the texts is not empty.
struct Report {
  std::string failure;  ///< reason of a failure; "" without a failure
  std::string skipped;  ///< reason of a skip; "" for a rule that was tried
};
/// Tries a rule with the op of a contract and returns the report. Contract::problem() and an
/// exemption from an unknown rule are failures, and an exemption from this rule a skip, without a
/// call of the op. A failure has at most five violations. Throws the errors of try_rule().
inline Report report_of(const Rule& rule, const Contract& contract) {
  Report report{contract.problem(), ""};
  const std::vector<Rule> rules = all_rules();
  for (const Exemption& exemption : contract.exemptions()) {
    const bool is_known = std::any_of(rules.begin(), rules.end(), [&](const Rule& other) {
      return other.name == exemption.rule;
    });
    if (exemption.kind == Exemption::kWithout && !is_known) {
      report.failure = "without(\"" + exemption.rule + "\"): there is no such rule";
    }
  }
  if (!report.failure.empty()) return report;
  const std::string& op = contract.callee().name();
  if (const Exemption* excuse = contract.excuse(rule.name)) {
    return {"", op + " is excused: " + excuse->reason};
  }
  const Verdict verdict = try_rule(rule, contract);
  if (verdict.violations.empty()) return report;
  constexpr size_t kMost = 5;
  for (size_t k = 0; k < verdict.violations.size() && k < kMost; ++k) {
    report.failure += verdict.violations[k] + ".\n";
  }
  if (verdict.violations.size() > kMost) {
    report.failure += "And " + std::to_string(verdict.violations.size() - kMost) + " more of " +
                      std::to_string(verdict.tried) + " calls.\n";
  }
  report.failure += std::string("The rule ") + rule.name + ": " + rule.statement + ".";
  return report;
}

/// A rule as a GoogleTest test.
class RuleTest : public ::testing::Test {
 public:
  /// Makes the test of a rule. `make` returns the contract, and is called when the test runs.
  /// Failures are reported at `file`, which must outlive the test, and `line`. Throws only
  /// std::bad_alloc.
  RuleTest(Rule rule, std::function<Contract()> make, const char* file, int line)
      : rule_(rule), make_(std::move(make)), file_(file), line_(line) {}

  /// Tries the rule and reports to GoogleTest. After a crash of the op in an earlier process,
  /// reports the crash in the test that crashed, and skips the other tests of the op. Throws the
  /// errors of `make` and report_of().
  void TestBody() override {
    const std::string test = name_of(*::testing::UnitTest::GetInstance()->current_test_info());
    const std::vector<Crash> crashes = earlier_crashes();
    if (const Crash* crash = crash_of(crashes, test)) {
      if (crash->test != test) GTEST_SKIP() << "not tried: " << crash->test << " crashed";
      ADD_FAILURE_AT(file_, line_) << crash->text;
      return;
    }
    const CrashGuard guard;
    const Report report = report_of(rule_, make_());
    if (!report.failure.empty()) ADD_FAILURE_AT(file_, line_) << report.failure;
    if (!report.skipped.empty()) GTEST_SKIP() << report.skipped;
  }

 private:
  Rule rule_;
  std::function<Contract()> make_;
  const char* file_;
  int line_;
};

// Registers Contract/<op>.<rule>; for the second example of the op, Contract/<op>/2.<rule>.
KERNKIT_CONTRACT_INLINE bool register_tests(const char* op, KernkitFunction function,
                                            KernkitFunction metadata, std::vector<Item> (*items)(),
                                            const char* file, int line) {
  static std::map<std::string, int> examples;
  const int count = ++examples[op];
  const std::string suite =
      std::string("Contract/") + op + (count > 1 ? "/" + std::to_string(count) : "");
  const auto make = [=] { return make_contract(op, function, metadata, items()); };
  for (const Rule& rule : all_rules()) {
    ::testing::RegisterTest(suite.c_str(), rule.name, nullptr, nullptr, file, line,
                            [=]() -> RuleTest* { return new RuleTest(rule, make, file, line); });
  }
  return true;
}

}  // namespace kernkit::testing::contract
