// SPDX-License-Identifier: Apache-2.0
// If no environment variable requests the log, the trace or recordings, the hook adds at most two
// instructions to a call. The test counts single steps of a child process.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "kernkit/abi/abi.h"
#include "sanitizers.h"
#include "single_steps.h"

namespace {

KernkitFunction load(const char* library, const char* symbol) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<KernkitFunction>(handle == nullptr ? nullptr : dlsym(handle, symbol));
}

// Returns the number of instructions of a call of the function `symbol`, or a negative number if
// the system does not permit tracing. The first argument is a tensor, the second argument, if any,
// is a number.
int64_t steps(const char* library, const char* symbol, int32_t num_args) {
  const KernkitFunction function = load(library, symbol);
  float number = 1;
  DLTensor x = {&number, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
  KernkitAny args[2] = {}, result = {};
  args[0].type_index = kKernkitDLTensorPtr;
  args[0].v.ptr = &x;
  args[1].type_index = kKernkitInt;
  const auto call = [&] {
    if (function(nullptr, args, num_args, &result) != 0) _exit(1);
  };
  call();
  return kernkit::single_steps(call);
}

struct Function {
  const char* symbol;
  int32_t num_args;
};

class HookCost : public testing::TestWithParam<Function> {};

TEST_P(HookCost, TakesAtMostTwoInstructions) {
#if defined(TEST_WITH_ASAN) || !defined(KERNKIT_TEST_OPTIMISED)
  GTEST_SKIP() << "the instructions of an optimised build are counted";
#endif
  const auto [symbol, num_args] = GetParam();
  const int64_t unhooked = steps(KERNKIT_TEST_UNHOOKED, symbol, num_args);
  if (unhooked < 0) GTEST_SKIP() << "the system does not permit tracing of a process";
  const int64_t hooked = steps(KERNKIT_TEST_HOOKED, symbol, num_args);
  std::printf("%ld instructions with the hook, %ld without\n", hooked, unhooked);
  EXPECT_GE(hooked, unhooked - 2);  // compilers may order the code differently
  EXPECT_LE(hooked, unhooked + 2);
}

// An op of KERNKIT_EXPORT, and a function that was written for tvm-ffi.
INSTANTIATE_TEST_SUITE_P(Functions, HookCost,
                         testing::Values(Function{"__tvm_ffi_ignore", 1},
                                         Function{"__tvm_ffi_typed_sum", 2}));

TEST(HookOption, ALibraryWithoutTheHookHasNoCodeOfTheHook) {
  void* hooked = dlopen(KERNKIT_TEST_HOOKED, RTLD_NOW | RTLD_LOCAL);
  void* unhooked = dlopen(KERNKIT_TEST_UNHOOKED, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(hooked, nullptr) << dlerror();
  ASSERT_NE(unhooked, nullptr) << dlerror();
  const auto has = [](const char* path, const char* text) {
    FILE* file = fopen(path, "rb");
    std::string content;
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, n);
    fclose(file);
    return content.find(text) != std::string::npos;
  };
  EXPECT_TRUE(has(KERNKIT_TEST_HOOKED, "KERNKIT_LOG_FILE"));
  EXPECT_FALSE(has(KERNKIT_TEST_UNHOOKED, "KERNKIT_LOG_FILE"));
}

}  // namespace
