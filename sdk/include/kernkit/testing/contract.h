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
#define KERNKIT_CONTRACT_INLINE
#else
#define KERNKIT_CONTRACT_INLINE inline
#endif

namespace kernkit::testing {

/// The op breaks this rule on purpose: `without("Layouts", "it reads bytes, whatever they are")`.
inline Exemption without(std::string rule, std::string reason) {
  return {Exemption::kWithout, std::move(rule), std::move(reason)};
}
/// The op has no CUDA half.
inline Exemption cpu_only() { return {Exemption::kCpuOnly, "", ""}; }
/// The op has no CPU half. What it should give is what it gives for dense and aligned tensors.
inline Exemption cuda_only() { return {Exemption::kCudaOnly, "", ""}; }

/// The op works row by row: row r of what it writes depends on row r of the tensors that have as
/// many rows as the first written one, and on the tensors that have not. Then its bits are the same
/// alone and among other rows, and in every run: rule RowAlone.
inline Exemption by_row() { return {Exemption::kByRow, "", ""}; }

/// The schema line of an op that was exported without one: `with_schema("(Tensor(a!) y, Tensor x)
/// -> ()")`. It says what is written. Its types are those of the C++ parameters. Messages name an
/// argument by the line or by number.
inline Exemption with_schema(std::string line) {
  return {Exemption::kWithSchema, "", std::move(line)};
}

namespace contract {

/// What stands behind the op's name in KERNKIT_TEST_CONTRACT: an argument, or an exemption.
class Item {
 public:
  Item(Exemption exemption)  // NOLINT(runtime/explicit)
      : exemption_(std::move(exemption)), is_exemption_(true) {}
  template <class T, std::enable_if_t<std::is_constructible_v<Example, T> &&
                                          !std::is_same_v<std::decay_t<T>, Item>,
                                      int> = 0>
  Item(T&& example) : example_(std::forward<T>(example)) {}  // NOLINT(runtime/explicit)

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

/// Makes tests of an op; `items` says what stands behind its name. Returns true.
KERNKIT_CONTRACT_INLINE bool register_tests(const char* op, KernkitFunction function,
                                            KernkitFunction metadata, std::vector<Item> (*items)(),
                                            const char* file, int line);

}  // namespace contract
}  // namespace kernkit::testing

/// KERNKIT_TEST_CONTRACT(op, arguments...): the tests Contract/<op>.<rule>, outside of any
/// namespace.
///
///     KERNKIT_TEST_CONTRACT(scale, example<float>(4, 33), example<float>(4, 33), 2.0)
///
/// The arguments are those of a call that the op accepts, outputs included, in the schema's order;
/// what is left out at the end takes its default. A list is `list(example<float>(4), ...)`, each of
/// whose tensors is changed as others are. An op may have several lines, as with and without
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
/// A line may stand in <op>_test.cc as well: of the programs of kernkit_add_tests() and
/// kernkit_add_cuda_tests() one tries it, the second where there is one.
///
/// Behind the arguments: `by_row()`, which asks for one more rule; `cpu_only()`, `cuda_only()`,
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
#define KERNKIT_CONTRACT_NAME(line) KERNKIT_CONTRACT_NAME_OF(line)
#define KERNKIT_CONTRACT_NAME_OF(line) kernkit_contract_##line

#if !defined(KERNKIT_CONTRACT_COMPILED)
#include "kernkit/testing/impl/contract.h"
#endif
