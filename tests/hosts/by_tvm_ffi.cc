// SPDX-License-Identifier: Apache-2.0
// A C++ host on tvm-ffi's own API loads and calls a kernkit library. Built as a program linked with
// libtvm_ffi, and as a plugin that by_tvm_ffi_test.cc loads in other ways.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

namespace ffi = tvm::ffi;

namespace {

int failures = 0;
void expect(bool held, int line, const char* text) {
  if (held) return;
  ++failures;
  std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, text);
}
#define EXPECT(condition) expect(condition, __LINE__, #condition)

ffi::Function get(const ffi::Module& module, const char* name) {
  return module->GetFunction(name).value();
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ffi::Error& error) {
    // The backtrace has one frame, because the library does not unwind the stack. (An error raised
    // by the host has more frames.)
    const std::string backtrace = error.backtrace();
    const bool is_callback =
        error.message() == "of the callback" || error.message() == "only 3 elements are supported";
    EXPECT(is_callback || backtrace.find("ops.cc\", line ") != std::string::npos);
    EXPECT(is_callback || std::count(backtrace.begin(), backtrace.end(), '\n') == 1);
    return error.kind() + ": " + error.message();
  }
  return "nothing";
}

struct Ones {
  void AllocData(DLTensor* tensor) { tensor->data = new float[3]{1, 1, 1}; }
  void FreeData(DLTensor* tensor) { delete[] static_cast<float*>(tensor->data); }
};

int allocations = 0;
int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  if (prototype->shape[0] != 3)
    return set_error(context, "MemoryError", "only 3 elements are supported"), -1;
  ++allocations;
  ffi::Tensor x = ffi::Tensor::FromNDAlloc(Ones(), {3}, prototype->dtype, prototype->device);
  *out = x.ToDLPackVersioned();
  return 0;
}

void check(const char* path) {
  const ffi::Module module = ffi::Module::LoadFromFile(path);
  const ffi::Tensor x = ffi::Tensor::FromNDAlloc(Ones(), {3}, {kDLFloat, 32, 1}, {kDLCPU, 0});
  EXPECT(get(module, "sum")(x).cast<double>() == 3);
  EXPECT(get(module, "sum")(ffi::TensorView(x)).cast<double>() == 3);

  const ffi::Function reject = get(module, "reject");
  EXPECT(error_of([&] { reject(); }) == "TypeError: reject(): a TypeError");
  EXPECT(error_of([&] { reject(1); }) == "ValueError: reject(): a ValueError");
  EXPECT(error_of([&] { reject(2); }) == "RuntimeError: reject(): a RuntimeError");
  EXPECT(error_of([&] { reject("x"); }) == "TypeError: reject(): how: expected int, got str \"x\"");
  std::thread([&] {
    EXPECT(error_of([&] { reject(1); }) == "ValueError: reject(): a ValueError");
  }).join();

  EXPECT(get(module, "words")().cast<std::string>() == "a text longer than seven");
  EXPECT(get(module, "same")(x).cast<ffi::Tensor>().same_as(x));
  const auto pair = get(module, "pair")(x).cast<ffi::Array<ffi::Any>>();
  EXPECT(pair.size() == 2 && pair[0].cast<int64_t>() == 7);
  EXPECT(pair[1].cast<ffi::Tensor>().same_as(x));

  const ffi::Function apply = get(module, "apply");
  const auto twice = ffi::Function::FromTyped([](double v) { return 2 * v; });
  EXPECT(apply(twice, 1.5).cast<double>() == 3);
  const auto fails =
      ffi::Function::FromTyped([](double) { TVM_FFI_THROW(IndexError) << "of the callback"; });
  EXPECT(error_of([&] { apply(fails, 1); }) == "IndexError: of the callback");

  int stream = 0;
  const ffi::Function stream_of = get(module, "stream_of");
  const DLDevice cuda{kDLCUDA, 1};
  TVMFFIEnvSetStream(kDLCUDA, 1, &stream, nullptr);
  EXPECT(stream_of(cuda).cast<int64_t>() == reinterpret_cast<int64_t>(&stream));
  std::thread([&] { EXPECT(stream_of(cuda).cast<int64_t>() == 0); }).join();
  TVMFFIEnvSetStream(kDLCUDA, 1, nullptr, nullptr);

  DLPackManagedTensorAllocator before = nullptr;
  TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, &before);
  EXPECT(get(module, "allocate")(3).cast<ffi::Tensor>().numel() == 3);
  EXPECT(allocations == 1);
  EXPECT(
      error_of([&] { get(module, "allocate")(4); }) ==
      "MemoryError: allocate(): cannot allocate float32 [4] on cpu: only 3 elements are supported");
  TVMFFIEnvSetDLPackManagedTensorAllocator(before, 0, nullptr);

  EXPECT(module->GetFunctionDoc("sum").value() == "The sum of x.");
  EXPECT(module->GetFunctionMetadata("sum").has_value());
}

// A tensor that exists until the program ends. Its deleter is code of a module that is released
// before.
ffi::Tensor outlives_everything;
void check_tensor_after_module(const char* path) {
  ffi::Tensor outlives_module;
  {
    const ffi::Module module = ffi::Module::LoadFromFile(path);
    outlives_module = get(module, "own_memory")(5).cast<ffi::Tensor>();
    outlives_everything = get(module, "own_memory")(6).cast<ffi::Tensor>();
  }
  EXPECT(static_cast<float*>(outlives_module.data_ptr())[4] == 1);
  outlives_module = ffi::Tensor();
  const ffi::Module again = ffi::Module::LoadFromFile(path);
  EXPECT(get(again, "count_deleted")().cast<int64_t>() == 1);
  std::thread([&] { get(again, "own_memory")(5); }).join();
  EXPECT(get(again, "count_deleted")().cast<int64_t>() == 2);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int check_by_tvm_ffi(const char* path) {
  check(path);
  check_tensor_after_module(path);
  return failures;
}

#if defined(KERNKIT_TEST_MAIN)
int main(int, char** argv) { return check_by_tvm_ffi(argv[1]); }
#endif
