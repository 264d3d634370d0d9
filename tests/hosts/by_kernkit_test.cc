// SPDX-License-Identifier: Apache-2.0
// A C++ program whose host is kernkit: Module calls a library built with kernkit and a library
// built on tvm-ffi's own headers. The first argument selects when and how tvm_ffi is loaded:
//   alone            never
//   global, local    first, RTLD_GLOBAL or RTLD_LOCAL
//   later            after kernkit's library was loaded and served by the runtime
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <string>
#include <thread>

#include "kernkit/host/module.h"
#include "kernkit/list.h"
#include "kernkit/make_function.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

std::string order = "alone";
constexpr DLDevice kCuda1{kDLCUDA, 1};

bool tvm_ffi_is_here() { return dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD) != nullptr; }
void load_tvm_ffi(int flags) {
  ASSERT_NE(dlopen(KERNKIT_TEST_TVM_FFI, RTLD_NOW | flags), nullptr) << dlerror();
}

template <class Function>
Function* host_function(const char* name) {
  return reinterpret_cast<Function*>(detail::find_host_function(name));
}
int set_stream(DLDevice device, void* stream) {
  return host_function<int(int32_t, int32_t, void*, void**)>("TVMFFIEnvSetStream")(
      device.device_type, device.device_id, stream, nullptr);
}

template <class Call>
std::string error_of(Call&& call) {
  return testing::error_of(call);
}

// Calls ops that together use every host function that a library needs.
void check(const Module& module) {
  testing::HostTensor<float> x({3}, {}, 2);
  EXPECT_EQ(module["sum"](x.view("x")).cast<double>(), 6);
  EXPECT_EQ(module["sum"](x.dl()).cast<double>(), 6);

  // The caller receives the kind and the message of each error, also of the first error that the
  // library raises, and in another thread.
  const std::string who = module.path() == KERNKIT_TEST_PEER ? "" : "reject(): ";
  EXPECT_EQ(error_of([&] { module["reject"](0); }), "TypeError: " + who + "a TypeError");
  EXPECT_EQ(error_of([&] { module["reject"](1); }), "ValueError: " + who + "a ValueError");
  EXPECT_EQ(error_of([&] { module["reject"](2); }), "RuntimeError: " + who + "a RuntimeError");
  std::thread([&] {
    EXPECT_EQ(error_of([&] { module["reject"](1); }), "ValueError: " + who + "a ValueError");
  }).join();

  // The results of ops may be a text, a tensor or a tuple.
  EXPECT_EQ(module["words"]().cast<std::string>(), "a text longer than seven");
  const int64_t deleted = module["count_deleted"]().cast<int64_t>();
  {
    const Tensor ones = module["own_memory"](5).cast<Tensor>();
    EXPECT_EQ(module["sum"](ones).cast<double>(), 5);
    const Tensor same = module["same"](ones).cast<Tensor>();
    EXPECT_EQ(same.view().get(), ones.view().get());
    const Any pair = module["pair"](ones);
    const auto items = pair.cast<ListView<AnyView>>();
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].cast<int64_t>(), 7);
    EXPECT_EQ(items[1].cast<TensorView>().data_ptr(), ones.view().data_ptr());
    EXPECT_EQ(module["count_deleted"]().cast<int64_t>(), deleted);
  }
  EXPECT_EQ(module["count_deleted"]().cast<int64_t>(), deleted + 1)
      << "the deleter must run exactly once";

  // The op returns the result of a callback, and passes on the error of a callback that fails.
  const Function twice = make_function("twice", [](double v) { return 2 * v; });
  EXPECT_EQ(module["apply"](twice, 1.5).cast<double>(), 3);
  const Function fails = make_function("fails", [](double v) { KERNKIT_THROW(ValueError) << v; });
  EXPECT_EQ(error_of([&] { module["apply"](fails, 1.5); }), "ValueError: fails(): 1.5");

  // set_stream() sets the stream of one device, for the calling thread only.
  int stream = 0;
  set_stream(kCuda1, &stream);
  EXPECT_EQ(module["stream_of"](kCuda1).cast<int64_t>(), reinterpret_cast<int64_t>(&stream));
  EXPECT_EQ(module["stream_of"](DLDevice{kDLCUDA, 0}).cast<int64_t>(), 0);
  std::thread([&] { EXPECT_EQ(module["stream_of"](kCuda1).cast<int64_t>(), 0); }).join();
  set_stream(kCuda1, nullptr);
}

// Number of tensors of allocate() that are not yet deleted.
int allocations = 0;
using SetError = void (*)(void*, const char*, const char*);
int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             SetError set_error) {
  if (prototype->shape[0] > 1000) {
    set_error(context, "MemoryError", "too much");
    return -1;
  }
  struct Block {
    DLManagedTensorVersioned managed;
    int64_t shape;
    float data[1000];
  };
  auto* block = new Block{};
  block->shape = prototype->shape[0];
  block->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  block->managed.dl_tensor = {block->data,   prototype->device, 1, prototype->dtype,
                              &block->shape, nullptr,           0};
  block->managed.deleter = [](DLManagedTensorVersioned* self) {
    --allocations;
    delete reinterpret_cast<Block*>(self);
  };
  ++allocations;
  *out = &block->managed;
  return 0;
}
void check_allocator(const Module& module) {
  using Allocator = decltype(&allocate);
  auto* set =
      host_function<int(Allocator, int, Allocator*)>("TVMFFIEnvSetDLPackManagedTensorAllocator");
  Allocator before = nullptr;
  ASSERT_EQ(set(allocate, 0, &before), 0);
  {
    const Tensor x = module["allocate"](10).cast<Tensor>();
    EXPECT_EQ(allocations, 1);
    EXPECT_EQ(x.view().sizes(), ShapeView({10}));
    EXPECT_EQ(x.view().strides()[0], 1);
    EXPECT_EQ(module["sum"](x).cast<double>(), 0);
  }
  EXPECT_EQ(allocations, 0);
  // In a library built on kernkit, the description of the requested tensor precedes the allocator's
  // message.
  const std::string rejected = error_of([&] { module["allocate"](1001); });
  EXPECT_EQ(rejected.substr(0, 13), "MemoryError: ");
  EXPECT_EQ(rejected.substr(rejected.size() - 8), "too much");
  set(before, 0, nullptr);
}

using Handlers = std::array<void*, 64>;
Handlers signal_handlers() {
  Handlers handlers{};
  for (int signal = 1; signal < 64; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0) {
      handlers[static_cast<size_t>(signal)] = reinterpret_cast<void*>(action.sa_sigaction);
    }
  }
  return handlers;
}

TEST(ByKernkit, LibrariesOfBothKinds) {
  if (order == "global") load_tvm_ffi(RTLD_GLOBAL);
  if (order == "local") load_tvm_ffi(RTLD_LOCAL);
  const bool first = order == "global" || order == "local";
  EXPECT_EQ(tvm_ffi_is_here(), first);

  const Handlers before = signal_handlers();
  const Module ours = Module::load(KERNKIT_TEST_OPS);
  const Module compat = Module::load(KERNKIT_TEST_COMPAT);
  for (const Module* module : {&ours, &compat}) {
    check(*module);
    check_allocator(*module);
  }
  if (first) {
    check(Module::load(KERNKIT_TEST_PEER));
    check_allocator(Module::load(KERNKIT_TEST_PEER));
    return;
  }
  EXPECT_FALSE(tvm_ffi_is_here());
  EXPECT_EQ(signal_handlers(), before) << "a signal handler was installed";

  // If no allocator is set, the host allocates CPU memory.
  const Tensor early = ours["allocate"](100).cast<Tensor>();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(early.view().data_ptr()) % 64, 0u);
  memset(early.view().data_ptr(), 0, 400);
  if (order != "later") return;

  // Objects that kernkit's runtime created and settings that it stored remain valid after tvm_ffi
  // is loaded.
  const Function twice = make_function("twice", [](double v) { return 2 * v; });
  const Any text = std::string("a text longer than seven");
  int stream = 0;
  set_stream(kCuda1, &stream);
  load_tvm_ffi(RTLD_LOCAL);
  const Module peer = Module::load(KERNKIT_TEST_PEER);
  EXPECT_EQ(ours["stream_of"](kCuda1).cast<int64_t>(), reinterpret_cast<int64_t>(&stream));
  EXPECT_EQ(peer["stream_of"](kCuda1).cast<int64_t>(), reinterpret_cast<int64_t>(&stream));
  for (const Module* module : {&ours, &compat, &peer}) {
    EXPECT_EQ((*module)["sum"](early).cast<double>(), 0);
    const Tensor same = (*module)["same"](early).cast<Tensor>();
    EXPECT_EQ(same.view().data_ptr(), early.view().data_ptr());
    EXPECT_NE(same.view().get(), early.view().get())
        << "an object of the runtime was passed to tvm_ffi";
    EXPECT_EQ((*module)["apply"](twice, 1.5).cast<double>(), 3);
    check(*module);
    check_allocator(*module);
  }
}

TEST(ByKernkit, Listing) {
  const Module module = Module::load(KERNKIT_TEST_OPS);
  std::string names;
  for (const ModuleFunction& function : module.functions()) names += function.name() + " ";
  const char* all = "allocate apply count_deleted own_memory pair reject same stream_of sum words ";
  EXPECT_EQ(names, all);
  EXPECT_EQ(module["pair"].schema(), "(Tensor x) -> (int, Tensor)");
  EXPECT_EQ(module["pair"].doc(), "Returns 7 and x.");
  EXPECT_NE(module["pair"].metadata().find("\"arguments\":[{\"name\":\"x\""), std::string::npos);
  EXPECT_EQ(
      error_of([&] { module["summ"]; }),
      std::string("ValueError: " KERNKIT_TEST_OPS " has no function summ; it has allocate, ") +
          "apply, count_deleted, own_memory, pair, reject, same, stream_of, sum, words");
  if (order == "alone") return;

  const Module peer = Module::load(KERNKIT_TEST_PEER);
  names.clear();
  for (const ModuleFunction& function : peer.functions()) names += function.name() + " ";
  EXPECT_EQ(names, all);
  EXPECT_EQ(peer["sum"].schema(), "");
  EXPECT_EQ(peer["sum"].doc(), "The sum of x.");
  EXPECT_EQ(peer["words"].doc(), "");
  EXPECT_NE(peer["sum"].metadata().find("type_schema"), std::string::npos);
}

TEST(ByKernkit, FilesThatCannotBeLoaded) {
  EXPECT_EQ(error_of([] { Module::load("/no/such/lib.so"); }),
            "RuntimeError: Module::load(): the file /no/such/lib.so does not exist");
  EXPECT_EQ(error_of([] { Module::load(KERNKIT_TEST_NO_LIBRARY); }),
            "RuntimeError: Module::load(): " KERNKIT_TEST_NO_LIBRARY ": invalid ELF header");
  EXPECT_EQ(error_of([] { Module::load("libno_such_thing.so"); }),
            "RuntimeError: Module::load(): libno_such_thing.so: cannot open shared object file: No "
            "such file or directory");
  EXPECT_EQ(
      error_of([] { Module::load("libm.so.6"); }),
      "RuntimeError: Module::load(): libm.so.6 exports no function named __tvm_ffi_*, so it is "
      "not a kernel library");
}

TEST(ByKernkit, TheSameLibraryTwice) {
  const Module first = Module::load(KERNKIT_TEST_OPS);
  const Tensor ones = [&] {
    const Module second = Module::load(KERNKIT_TEST_OPS);
    return second["own_memory"](3).cast<Tensor>();
  }();
  EXPECT_EQ(first["sum"](ones).cast<double>(), 3);
}

}  // namespace
}  // namespace kernkit

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc == 2) kernkit::order = argv[1];
  return RUN_ALL_TESTS();
}
