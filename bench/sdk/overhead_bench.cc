// SPDX-License-Identifier: Apache-2.0
// The cost of a call without the kernel's work: ops on tensors of one element, compared with the
// same ops on tvm-ffi's own headers. All libraries are in this process, whose host is the real
// libtvm_ffi. Rows are named <what>/<compiler of both libraries>/<implementation>.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/libraries.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::bench {
namespace {

template <class Function>
Function* host_function(const char* name) {
  return reinterpret_cast<Function*>(symbol(load_host(), name));
}

// Returns a Tensor object of the host as an argument, as a framework's tensor arrives from Python.
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

// Arguments of scale(y, x, 2.0).
struct Call {
  testing::HostTensor<float> x{{1}, {}, 3.0f}, y{{1}};
  testing::HostTensor<double> wrong{{1}};
  KernkitAny args[3] = {tensor_argument(y.dl()), tensor_argument(x.dl()), {}};
  KernkitAny result{};

  Call() {
    args[2].type_index = kKernkitFloat;
    args[2].v.f64 = 2.0;
  }
};

void passing(benchmark::State& state, const std::string& library) {
  const KernkitFunction scale = load_op(library, "scale");
  Call call;
  if (scale(nullptr, call.args, 3, &call.result) != 0 || call.y[0] != 6.0f) {
    return state.SkipWithError("the result is wrong");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(scale(nullptr, call.args, 3, &call.result));
    benchmark::ClobberMemory();
  }
}

// Calls through a Function object of the host, as Python and other libraries do.
void through_function(benchmark::State& state, const std::string& library) {
  const KernkitFunction scale = load_op(library, "scale");
  auto* call_function =
      host_function<int(void*, KernkitAny*, int32_t, KernkitAny*)>("TVMFFIFunctionCall");
  void* function = nullptr;
  host_function<int(void*, KernkitFunction, void (*)(void*), void**)>("TVMFFIFunctionCreate")(
      nullptr, scale, nullptr, &function);
  Call call;
  if (call_function(function, call.args, 3, &call.result) != 0 || call.y[0] != 6.0f) {
    return state.SkipWithError("the result is wrong");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(call_function(function, call.args, 3, &call.result));
    benchmark::ClobberMemory();
  }
  host_function<int(void*)>("TVMFFIObjectDecRef")(function);
}

void failing(benchmark::State& state, const std::string& library) {
  const KernkitFunction scale = load_op(library, "scale");
  auto* take_error = host_function<void(void**)>("TVMFFIErrorMoveFromRaised");
  auto* release = host_function<int(void*)>("TVMFFIObjectDecRef");
  Call call;
  call.args[0] = tensor_argument(call.wrong.dl());
  const auto once = [&] {
    const bool rejected = scale(nullptr, call.args, 3, &call.result) != 0;
    void* error = nullptr;
    take_error(&error);
    if (error != nullptr) release(error);
    return rejected && error != nullptr;
  };
  // Raises an error before the measurement, because the first error of a process takes longer than
  // later errors (see start_bench.cc).
  if (!once()) return state.SkipWithError("a wrong dtype was accepted");
  for (auto _ : state) benchmark::DoNotOptimize(once());
}

// Measures a call of an op that checks four properties of each of its eight arguments.
void eight_tensors(benchmark::State& state, const std::string& library) {
  const KernkitFunction sum = load_op(library, "sum_of_seven");
  testing::HostTensor<float> x{{1}, {}, 3.0f}, y{{1}};
  KernkitAny args[8] = {tensor_argument(y.dl())}, result{};
  for (int i = 1; i < 8; ++i) args[i] = tensor_argument(x.dl());
  if (sum(nullptr, args, 8, &result) != 0 || y[0] != 21.0f) {
    return state.SkipWithError("the result is wrong");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(sum(nullptr, args, 8, &result));
    benchmark::ClobberMemory();
  }
}

[[maybe_unused]] const bool registered = [] {
  add_pair("call", "scale", passing);
  add_pair("call through Function", "scale", through_function);
  add_pair("failing call", "scale", failing);
  add_pair("call with 8 tensors", "sum_of_seven", eight_tensors);
  // Measures code that was written for tvm-ffi, compiled unchanged against kernkit's headers under
  // tvm-ffi's names.
  add_pair("call, code for tvm-ffi", "scale", passing, false, "_compat");
  add_pair("failing call, code for tvm-ffi", "scale", failing, false, "_compat");
  add_pair("call with 8 tensors, code for tvm-ffi", "sum_of_seven", eight_tensors, false,
           "_compat");
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
