// SPDX-License-Identifier: Apache-2.0
// by_tvm_ffi.cc as a plugin of a program that is not linked with tvm_ffi. The first argument
// selects how tvm_ffi is loaded:
//   global, local              RTLD_GLOBAL or RTLD_LOCAL
//   kernel_first_global, ..    after a call of the library has failed, with no host
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "kernkit/abi/abi.h"

namespace {

std::string order;

void* load(const char* path, int flags) {
  void* library = dlopen(path, RTLD_NOW | flags);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

TEST(ByTvmFfi, LoadsAndCalls) {
  if (order.find("kernel_first") == 0) {
    void* library = load(KERNKIT_TEST_OPS, RTLD_LOCAL);
    auto* reject = reinterpret_cast<KernkitFunction>(dlsym(library, "__tvm_ffi_reject"));
    auto* last_error = reinterpret_cast<const char* (*)()>(dlsym(library, "kernkit_last_error"));
    KernkitAny result{};
    EXPECT_EQ(reject(nullptr, nullptr, 0, &result), -1);
    EXPECT_STREQ(last_error(), "TypeError: reject(): a TypeError");
  }
  ASSERT_EQ(dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD), nullptr);
  const bool global = order.find("global") != std::string::npos;
  void* plugin = load(KERNKIT_TEST_PLUGIN, global ? RTLD_GLOBAL : RTLD_LOCAL);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "TVMFFIErrorCreate") != nullptr, global);
  auto* check = reinterpret_cast<int (*)(const char*)>(dlsym(plugin, "check_by_tvm_ffi"));
  EXPECT_EQ(check(KERNKIT_TEST_OPS), 0);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  order = argc == 2 ? argv[1] : "local";
  return RUN_ALL_TESTS();
}
