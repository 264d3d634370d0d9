// SPDX-License-Identifier: Apache-2.0
// KERNKIT_TEST_CONTRACT: the tests that every op has, from its schema line and one example. Link
// kernkit::host and GoogleTest.
//
// The rules take seconds to compile. kernkit_add_tests() and the like compile them once for all ops
// of a library, in sdk/src/testing/contract.cc, and define KERNKIT_CONTRACT_COMPILED.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernkit/abi/abi.h"
#include "kernkit/testing/contract/example.h"

#if defined(KERNKIT_CONTRACT_COMPILED)
/// Marks a function of the rules: empty if sdk/src/testing/contract.cc compiles the rules once,
/// otherwise inline.
#define KERNKIT_CONTRACT_INLINE
#else
/// Marks a function of the rules: empty if sdk/src/testing/contract.cc compiles the rules once,
/// otherwise inline.
#define KERNKIT_CONTRACT_INLINE inline
#endif

namespace kernkit::testing {

/// Exempts an op from rule `rule`, which the op breaks on purpose: `without("Layouts", "it reads
/// bytes in any layout")`. The test of the rule is skipped with the reason, and the tests of other
/// rules omit this rule's variations of the example call. All tests of the op fail if no rule has
/// this name. Throws nothing.
inline Exemption without(std::string rule, std::string reason) {
  return {Exemption::kWithout, std::move(rule), std::move(reason)};
}
/// States that an op has no CUDA implementation: no rule runs it on a CUDA device. Throws nothing.
inline Exemption cpu_only() { return {Exemption::kCpuOnly, "", ""}; }
/// States that an op has no CPU implementation: no rule runs it on the CPU, and RunsOnCuda does not
/// compare results with results of the CPU. Throws nothing.
inline Exemption cuda_only() { return {Exemption::kCudaOnly, "", ""}; }

/// States that an op works row by row. Row r of a tensor is its part at index r of the first
/// dimension. Row r of each result depends only on row r of the arguments whose first dimension has
/// the same size as the first dimension of the first output, and on the other arguments as a whole.
/// The first output is the first argument with a dimension that the schema marks as written; a
/// returned tensor does not count. Rule RowAlone then requires the same bits of a row alone, among
/// other rows, and in every run. Throws nothing.
inline Exemption by_row() { return {Exemption::kByRow, "", ""}; }

/// States the schema line of an op that was exported without a schema line:
/// `with_schema("(Tensor(a!) y, Tensor x) -> ()")`. `line` marks the outputs. All tests of the op
/// fail if the types in `line` do not match the C++ parameters, if `line` has defaults, or if the
/// op was exported with a schema line. The op's errors may name an argument as in `line` or by
/// number ("argument 1"). Throws nothing.
inline Exemption with_schema(std::string line) {
  return {Exemption::kWithSchema, "", std::move(line)};
}

namespace contract {

/// An item after the op's name in KERNKIT_TEST_CONTRACT: an argument, or an exemption.
class Item {
 public:
  /// Takes an exemption, such as by_row(). Throws nothing.
  Item(Exemption exemption)  // NOLINT(runtime/explicit)
      : exemption_(std::move(exemption)), is_exemption_(true) {}
  /// Takes an argument: an Example, or a value that Example accepts. Throws the errors of Example's
  /// constructors.
  template <class T, std::enable_if_t<std::is_constructible_v<Example, T> &&
                                          !std::is_same_v<std::decay_t<T>, Item>,
                                      int> = 0>
  Item(T&& example) : example_(std::forward<T>(example)) {}  // NOLINT(runtime/explicit)

  /// Appends the argument to *examples, or the exemption to *exemptions. Throws only
  /// std::bad_alloc.
  void add_to(std::vector<Example>* examples, std::vector<Exemption>* exemptions) const {
    if (is_exemption_) {
      exemptions->push_back(exemption_);
    } else {
      examples->push_back(example_);
    }
  }

 private:
  Example example_ = nullptr;
  Exemption exemption_{};
  bool is_exemption_ = false;
};

/// Registers a GoogleTest test for each rule, named after the rule, in the suite `Contract/<op>`,
/// or `Contract/<op>/<k>` for the k-th example of the op, k >= 2. `function` and `metadata` are the
/// op's symbols `__tvm_ffi_<op>` and `__tvm_ffi__metadata_<op>`, whose library must stay loaded;
/// `items` returns the arguments and exemptions, and is called by each test. Failures are reported
/// at `file` and `line`; `op` and `file` must outlive the tests. Returns true. Call the function
/// before RUN_ALL_TESTS(), in one thread at a time. Throws only std::bad_alloc.
KERNKIT_CONTRACT_INLINE bool register_tests(const char* op, KernkitFunction function,
                                            KernkitFunction metadata, std::vector<Item> (*items)(),
                                            const char* file, int line);

}  // namespace contract
}  // namespace kernkit::testing

/// Defines a test for each rule in the suite `Contract/<op>`, from the arguments of a call that the
/// op accepts. Use the macro outside of any namespace.
///
///     KERNKIT_TEST_CONTRACT(scale, example<float>(4, 33), example<float>(4, 33), 2.0)
///
/// The arguments, outputs included, are in the schema's order; arguments left out at the end take
/// their defaults. A list is `list(example<float>(4), ...)`, whose tensors are varied like other
/// tensors. An op may have several such macros, for example with and without its optional tensors.
/// Choose tensors of a few hundred elements, and different sizes for dimensions with different
/// meanings.
///
/// Each rule changes the call in one way. The op must reject the changed call with an error of the
/// right kind that names the argument, or give its results for dense and aligned tensors. In both
/// cases it must write only what the schema marks (a!). The call goes through the exported symbol,
/// as a framework's call does.
///
/// CMake's `kernkit_add_contract_test(<library> <file>)` builds a program from a file of such
/// macros. If the library has .cu files, the rules also run on a CUDA device of the simulator or,
/// in a program for GPUs, on the GPU, with additional rules on the launched work.
///
/// The macro may also be in `<op>_test.cc`: either the program of kernkit_add_tests() or, if there
/// is one, the program of kernkit_add_cuda_tests() runs its tests.
///
/// After the arguments: `by_row()`, which adds one rule; `cpu_only()`, `cuda_only()`,
/// `without("<rule>", "<why>")`, `with_schema("<line>")`.
#if !defined(KERNKIT_CONTRACT_IN_CUDA_TEST)
#define KERNKIT_TEST_CONTRACT(op, ...)                                                     \
  extern "C" int __tvm_ffi_##op(void*, const KernkitAny*, int32_t, KernkitAny*);           \
  extern "C" int __tvm_ffi__metadata_##op(void*, const KernkitAny*, int32_t, KernkitAny*); \
  [[maybe_unused]] static const bool KERNKIT_CONTRACT_NAME(__LINE__) =                     \
      ::kernkit::testing::contract::register_tests(                                        \
          #op, __tvm_ffi_##op, __tvm_ffi__metadata_##op,                                   \
          [] {                                                                             \
            using ::kernkit::testing::by_row;                                              \
            using ::kernkit::testing::cpu_only;                                            \
            using ::kernkit::testing::cuda_only;                                           \
            using ::kernkit::testing::example;                                             \
            using ::kernkit::testing::list;                                                \
            using ::kernkit::testing::with_schema;                                         \
            using ::kernkit::testing::without;                                             \
            return std::vector<::kernkit::testing::contract::Item>{__VA_ARGS__};           \
          },                                                                               \
          __FILE__, __LINE__);
#else
#define KERNKIT_TEST_CONTRACT(op, ...) static_assert(true, "");
#endif
/// The name of the variable that registers the tests of source line `line`. For
/// KERNKIT_TEST_CONTRACT only.
#define KERNKIT_CONTRACT_NAME(line) KERNKIT_CONTRACT_NAME_OF(line)
/// Joins the expanded `line` to the name of KERNKIT_CONTRACT_NAME.
#define KERNKIT_CONTRACT_NAME_OF(line) kernkit_contract_##line

#if !defined(KERNKIT_CONTRACT_COMPILED)
#include "kernkit/testing/impl/contract.h"
#endif
