// SPDX-License-Identifier: Apache-2.0
// KERNKIT_TEST_CONTRACT: the tests that every op has, from its schema line and one example. Link
// kernkit::host and GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
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

/// One rule as a test.
class RuleTest : public ::testing::Test {
 public:
  RuleTest(Rule rule, Contract (*make)(), const char* file, int line)
      : rule_(rule), make_(make), file_(file), line_(line) {}

  void TestBody() override {
    const Contract contract = make_();
    fail(contract.problem());
    if (HasFailure()) return;
    for (const Exception& exception : contract.exceptions()) {
      const auto is_meant = [&](const Rule& rule) { return rule.name == exception.rule; };
      const std::vector<Rule> rules = all_rules();
      if (exception.kind == Exception::kWithout &&
          std::none_of(rules.begin(), rules.end(), is_meant)) {
        fail("without(\"" + exception.rule + "\"): there is no such rule");
      }
    }
    if (const Exception* excuse = contract.excuse(rule_.name)) {
      GTEST_SKIP() << contract.callee().name() << " is excused: " << excuse->reason;
    }
    const Verdict verdict = try_rule(rule_, contract);
    constexpr size_t kMost = 5;
    for (size_t k = 0; k < verdict.violations.size() && k < kMost; ++k) {
      fail(verdict.violations[k]);
    }
    if (verdict.violations.size() > kMost) {
      fail("and " + std::to_string(verdict.violations.size() - kMost) + " more of " +
           std::to_string(verdict.tried) + " calls");
    }
    if (verdict.tried == 0) {
      GTEST_SKIP() << contract.callee().name() << " has nothing that this rule could try";
    }
  }

 private:
  void fail(const std::string& sentence) const {
    if (sentence.empty()) return;
    ADD_FAILURE_AT(file_, line_) << sentence << "\nThe rule: " << rule_.says << ".";
  }

  Rule rule_;
  Contract (*make_)();
  const char* file_;
  int line_;
};

inline bool register_tests(const char* op, Contract (*make)(), const char* file, int line) {
  for (const Rule& rule : all_rules()) {
    ::testing::RegisterTest((std::string("Contract/") + op).c_str(), rule.name, nullptr, nullptr,
                            file, line,
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
/// what is left out at the end takes its default. Tensors are best of a few hundred elements, with
/// sizes that differ where they mean something different. They are changed one way at a time: each
/// change is refused by an error of the right kind that names the argument, or the op gives what it
/// gives for dense and aligned tensors; either way nothing is written but what the schema marks
/// (a!). The call goes through the exported symbol, as a framework's does.
///
/// In a program that is linked with kernkit_add_cuda_on_cpu()'s objects all of it is tried on a
/// CUDA device as well, and besides where and how work is launched. Elsewhere it is the CPU's half.
///
/// Behind the arguments: `cpu_only()`, `cuda_only()`, `without("<rule>", "<why>")`.
#define KERNKIT_TEST_CONTRACT(op, ...)                                                     \
  extern "C" int __tvm_ffi_##op(void*, const KernkitAny*, int32_t, KernkitAny*);           \
  extern "C" int __tvm_ffi__metadata_##op(void*, const KernkitAny*, int32_t, KernkitAny*); \
  [[maybe_unused]] static const bool kernkit_contract_of_##op =                            \
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
