// SPDX-License-Identifier: Apache-2.0
// KERNKIT_TEST_CONTRACT: the tests that every op has, from its schema line and one example. Link
// kernkit::host and GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract/call_rules.h"
#if defined(KERNKIT_CUDA_ON_CPU)
#include "kernkit/testing/contract/cuda_rules.h"
#endif

namespace kernkit::testing {

/// The op breaks this rule on purpose: `without("Layouts", "it reads bytes, whatever they are")`.
inline Exception without(std::string rule, std::string reason) {
  return {Exception::kWithout, std::move(rule), std::move(reason)};
}
/// The op has no CUDA half.
inline Exception cpu_only() { return {Exception::kCpuOnly, "", ""}; }
/// The op has no CPU half. What it should give is what it gives for dense and aligned tensors.
inline Exception cuda_only() { return {Exception::kCudaOnly, "", ""}; }

namespace contract {

inline std::vector<Rule> all_rules() {
  std::vector<Rule> rules = cpu_rules();
#if defined(KERNKIT_CUDA_ON_CPU)
  for (const Rule& rule : cuda_rules()) rules.push_back(rule);
#endif
  return rules;
}

/// What stands behind the op's name in KERNKIT_TEST_CONTRACT: an argument, or an exception.
class Item {
 public:
  Item(Exception exception)  // NOLINT(runtime/explicit)
      : exception_(std::move(exception)), is_exception_(true) {}
  template <class T, std::enable_if_t<std::is_constructible_v<Example, T> &&
                                          !std::is_same_v<std::decay_t<T>, Item>,
                                      int> = 0>
  Item(T&& example) : example_(std::forward<T>(example)) {}  // NOLINT(runtime/explicit)

  void add_to(std::vector<Example>* examples, std::vector<Exception>* exceptions) const {
    if (is_exception_) {
      exceptions->push_back(exception_);
    } else {
      examples->push_back(example_);
    }
  }

 private:
  Example example_ = nullptr;
  Exception exception_{};
  bool is_exception_ = false;
};

inline Contract make_contract(const char* op, KernkitFunction function, KernkitFunction metadata,
                              std::initializer_list<Item> items) {
  std::vector<Example> examples;
  std::vector<Exception> exceptions;
  for (const Item& item : items) item.add_to(&examples, &exceptions);
  return Contract(Callee(op, function, metadata), std::move(examples), std::move(exceptions));
}

/// What GoogleTest is told of one rule: why it failed, or why it was not tried, or nothing.
struct Report {
  std::string failure;
  std::string skipped;
};
inline Report report_of(const Rule& rule, const Contract& contract) {
  Report report{contract.problem(), ""};
  for (const Exception& exception : contract.exceptions()) {
    const std::vector<Rule> rules = all_rules();
    const bool known = std::any_of(rules.begin(), rules.end(),
                                   [&](const Rule& other) { return other.name == exception.rule; });
    if (exception.kind == Exception::kWithout && !known) {
      report.failure = "without(\"" + exception.rule + "\"): there is no such rule";
    }
  }
  if (!report.failure.empty()) return report;
  const std::string& op = contract.callee().name();
  if (const Exception* excuse = contract.excuse(rule.name)) {
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
  report.failure += std::string("The rule ") + rule.name + ": " + rule.says + ".";
  return report;
}

/// One rule as a test.
class RuleTest : public ::testing::Test {
 public:
  RuleTest(Rule rule, Contract (*make)(), const char* file, int line)
      : rule_(rule), make_(make), file_(file), line_(line) {}

  void TestBody() override {
    const Report report = report_of(rule_, make_());
    if (!report.failure.empty()) ADD_FAILURE_AT(file_, line_) << report.failure;
    if (!report.skipped.empty()) GTEST_SKIP() << report.skipped;
  }

 private:
  Rule rule_;
  Contract (*make_)();
  const char* file_;
  int line_;
};

/// Contract/<op>.<rule>; for another example of the op Contract/<op>/2.<rule>.
inline bool register_tests(const char* op, Contract (*make)(), const char* file, int line) {
  static std::map<std::string, int> examples;
  const int count = ++examples[op];
  const std::string suite =
      std::string("Contract/") + op + (count > 1 ? "/" + std::to_string(count) : "");
  for (const Rule& rule : all_rules()) {
    ::testing::RegisterTest(suite.c_str(), rule.name, nullptr, nullptr, file, line,
                            [=]() -> RuleTest* { return new RuleTest(rule, make, file, line); });
  }
  return true;
}

}  // namespace contract
}  // namespace kernkit::testing

/// KERNKIT_TEST_CONTRACT(op, arguments...): the tests Contract/<op>.<rule>, outside of any
/// namespace.
///
///     KERNKIT_TEST_CONTRACT(scale, example<float>(4, 33), example<float>(4, 33), 2.0)
///
/// The arguments are those of a call that the op accepts, outputs included, in the schema's order;
/// what is left out at the end takes its default. An op may have several lines, as with and without
/// its optional tensors. Tensors are best of a few hundred elements, with sizes that differ where
/// they mean something different. They are changed one way at a time: each change is refused by an
/// error of the right kind that names the argument, or the op gives what it gives for dense and
/// aligned tensors; either way nothing is written but what the schema marks (a!). The call goes
/// through the exported symbol, as a framework's does.
///
/// CMake's kernkit_add_contract_test(<library> <file>) makes a program of such lines. Where the
/// library has .cu files, all of it is tried on a CUDA device as well (CudaRuntime's), and besides
/// where and how work is launched.
///
/// Behind the arguments: `cpu_only()`, `cuda_only()`, `without("<rule>", "<why>")`.
#define KERNKIT_TEST_CONTRACT(op, ...)                                                     \
  extern "C" int __tvm_ffi_##op(void*, const KernkitAny*, int32_t, KernkitAny*);           \
  extern "C" int __tvm_ffi__metadata_##op(void*, const KernkitAny*, int32_t, KernkitAny*); \
  [[maybe_unused]] static const bool KERNKIT_CONTRACT_NAME(__LINE__) =                     \
      ::kernkit::testing::contract::register_tests(                                        \
          #op,                                                                             \
          [] {                                                                             \
            using ::kernkit::testing::cpu_only;                                            \
            using ::kernkit::testing::cuda_only;                                           \
            using ::kernkit::testing::example;                                             \
            using ::kernkit::testing::without;                                             \
            return ::kernkit::testing::contract::make_contract(                            \
                #op, __tvm_ffi_##op, __tvm_ffi__metadata_##op, {__VA_ARGS__});             \
          },                                                                               \
          __FILE__, __LINE__);
#define KERNKIT_CONTRACT_NAME(line) KERNKIT_CONTRACT_NAME_OF(line)
#define KERNKIT_CONTRACT_NAME_OF(line) kernkit_contract_##line
