// SPDX-License-Identifier: Apache-2.0
// Lifetimes: each case runs in a process of its own, which must exit with code 0. With two
// arguments, tvm_ffi is the host, and the second argument is the library.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "kernkit/host/module.h"
#include "kernkit/make_function.h"

namespace {

using kernkit::Any;
using kernkit::Function;
using kernkit::Module;
using kernkit::Tensor;

std::string library = KERNKIT_TEST_OPS;
bool with_tvm_ffi = false;

Module load() {
  if (with_tvm_ffi) dlopen(KERNKIT_TEST_TVM_FFI, RTLD_NOW | RTLD_LOCAL);
  return Module::load(library);
}
Tensor ones(int64_t n = 1000) { return load()["own_memory"](n).cast<Tensor>(); }
bool is_whole(const Tensor& x) { return load()["sum"](x).cast<double>() == 1000; }
int64_t deleted() { return load()["count_deleted"]().cast<int64_t>(); }

[[noreturn]] void end(bool good) { std::exit(good ? 0 : 1); }

// Runs `call` in a new process. `call` ends the process by std::exit(), so that the destructors of
// static objects run. Returns the status of waitpid().
template <class Call>
int in_child(Call&& call) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    try {
      call();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::_Exit(2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Lifetime, TensorAfterModule) {
  EXPECT_EQ(in_child([] {
              Tensor x = ones();
              const bool whole = is_whole(x) && deleted() == 0;
              x = Tensor();
              end(whole && deleted() == 1);
            }),
            0);
}

Tensor of_the_process;
thread_local Any of_the_thread;

TEST(Lifetime, TensorAfterExit) {
  EXPECT_EQ(in_child([] {
              of_the_process = ones();
              of_the_thread = ones();
              static const Tensor of_the_function = ones();
              static const auto* never_released = new Tensor(ones());
              EXPECT_NE(never_released, nullptr);
              end(deleted() == 0);
            }),
            0);
}

TEST(Lifetime, ErrorAndCallbackAfterExit) {
  EXPECT_EQ(in_child([] {
              static Function kept = kernkit::make_function("kept", [](double x) { return x; });
              static kernkit::Error last("", "");
              try {
                load()["reject"](1);
              } catch (const kernkit::Error& error) {
                last = error;
              }
              end(load()["apply"](kept, 2.0).cast<double>() == 2);
            }),
            0);
}

TEST(Lifetime, CallWhileTheProcessEnds) {
  EXPECT_EQ(in_child([] {
              static const Module module = load();
              struct AtExit {
                ~AtExit() {
                  try {
                    module["reject"](1);
                  } catch (const kernkit::Error& error) {
                    if (std::string(error.kind()) == "ValueError") return;
                  }
                  std::_Exit(3);
                }
              };
              static const AtExit at_exit;
              end(true);
            }),
            0);
}

TEST(Lifetime, TensorAfterFork) {
  EXPECT_EQ(in_child([] {
              Tensor x = ones();
              const int status = in_child([&x] {
                const bool whole = is_whole(x);
                x = Tensor();
                bool rejected = false;
                try {
                  load()["reject"](0);
                } catch (const kernkit::Error&) {
                  rejected = true;
                }
                end(whole && rejected && deleted() == 1);
              });
              const bool whole = is_whole(x) && deleted() == 0;
              x = Tensor();
              end(status == 0 && whole && deleted() == 1);
            }),
            0);
}

TEST(Lifetime, TensorFromAnotherThread) {
  EXPECT_EQ(in_child([] {
              Tensor x, y = ones();
              std::thread([&x] {
                x = ones();
                of_the_thread = ones();
                static thread_local Tensor of_a_thread = ones();
              }).join();
              bool whole = is_whole(x) && deleted() == 2;
              x = Tensor();
              std::thread([&y] { y = Tensor(); }).join();
              end(whole && deleted() == 4);
            }),
            0);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc == 3) {
    with_tvm_ffi = true;
    library = argv[2];
  }
  return RUN_ALL_TESTS();
}
