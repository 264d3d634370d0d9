// SPDX-License-Identifier: Apache-2.0
// What a call costs beside the kernel: scale of one element, by its symbol, here and in the peer
// on tvm-ffi's own headers. Both libraries are loaded into this process, whose host is the real
// libtvm_ffi.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "kernkit/abi.h"
#include "kernkit/testing/tensor.h"

namespace {

void* symbol(void* library, const char* name) {
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "overhead_bench: %s\n", dlerror());
    std::exit(1);
  }
  return found;
}

template <class Function>
Function* host_function(const char* name) {
  static void* host = dlopen(KERNKIT_BENCH_HOST, RTLD_NOW | RTLD_GLOBAL);
  return reinterpret_cast<Function*>(symbol(host, name));
}

KernkitFunction scale_of(const char* library) {
  host_function<void()>("TVMFFIErrorCreate");  // the host comes first, as in Python
  return reinterpret_cast<KernkitFunction>(
      symbol(dlopen(library, RTLD_NOW | RTLD_LOCAL), "__tvm_ffi_scale"));
}

// A Tensor object of the host, as a framework's tensor arrives from Python.
KernkitAny tensor_argument(DLTensor* tensor) {
  auto* managed = new DLManagedTensorVersioned{};
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->deleter = [](DLManagedTensorVersioned* self) { delete self; };
  managed->dl_tensor = *tensor;
  KernkitAny any{};
  any.type_index = kKernkitTensor;
  void* object = nullptr;
  host_function<int(DLManagedTensorVersioned*, int32_t, int32_t, void**)>(
      "TVMFFITensorFromDLPackVersioned")(managed, 0, 0, &object);
  any.v.object = static_cast<KernkitObject*>(object);
  return any;
}

struct Call {
  kernkit::testing::HostTensor<float> x{{1}, {}, 3.0f}, y{{1}};
  kernkit::testing::HostTensor<double> wrong{{1}};
  KernkitAny args[3] = {tensor_argument(y.dl()), tensor_argument(x.dl()), {}};
  KernkitAny result{};

  Call() {
    args[2].type_index = kKernkitFloat;
    args[2].v.f64 = 2.0;
  }
};

void passing(benchmark::State& state, const char* library) {
  const KernkitFunction scale = scale_of(library);
  Call call;
  if (scale(nullptr, call.args, 3, &call.result) != 0 || call.y[0] != 6.0f) {
    return state.SkipWithError("the result is wrong");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(scale(nullptr, call.args, 3, &call.result));
    benchmark::ClobberMemory();
  }
}

void failing(benchmark::State& state, const char* library) {
  const KernkitFunction scale = scale_of(library);
  auto* take_error = host_function<void(void**)>("TVMFFIErrorMoveFromRaised");
  auto* release = host_function<int(void*)>("TVMFFIObjectDecRef");
  Call call;
  call.args[0] = tensor_argument(call.wrong.dl());
  for (auto _ : state) {
    if (scale(nullptr, call.args, 3, &call.result) == 0) {
      return state.SkipWithError("a wrong dtype was accepted");
    }
    void* error = nullptr;
    take_error(&error);
    release(error);
  }
}

}  // namespace

BENCHMARK_CAPTURE(passing, kernkit, KERNKIT_BENCH_OURS)->Name("call/kernkit");
BENCHMARK_CAPTURE(passing, tvm_ffi, KERNKIT_BENCH_PEER)->Name("call/tvm_ffi");
BENCHMARK_CAPTURE(failing, kernkit, KERNKIT_BENCH_OURS)->Name("failing_call/kernkit");
BENCHMARK_CAPTURE(failing, tvm_ffi, KERNKIT_BENCH_PEER)->Name("failing_call/tvm_ffi");
