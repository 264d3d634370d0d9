// SPDX-License-Identifier: Apache-2.0
// The cost of a launch on the simulator by the driver's API, compared with the runtime's API. Each
// call launches one thread of the same empty kernel, and then synchronises.
#include <benchmark/benchmark.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernkit/simulator/runtime.h"

namespace kernkit::bench {
namespace {

constexpr const char* kModule = R"(.version 8.7
.target sm_80
.address_size 64
.visible .entry empty(.param .u64 x, .param .u32 n)
{
  ret;
}
)";

/// A simulated device with the module loaded.
class Device {
 public:
  Device() {
    runtime_.run_kernels(true);
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    is_ready_ = cuInit(0) == CUDA_SUCCESS &&
                cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                cuCtxSetCurrent(context) == CUDA_SUCCESS &&
                cuModuleLoadData(&module, kModule) == CUDA_SUCCESS &&
                cuModuleGetFunction(&function_, module, "empty") == CUDA_SUCCESS;
  }
  bool is_ready() const { return is_ready_; }
  CUfunction function() const { return function_; }
  /// Removes the record of launches, which would grow with each launch.
  void clear() { runtime_.clear(); }

 private:
  simulator::CudaRuntime runtime_;
  CUfunction function_ = nullptr;
  bool is_ready_ = false;
};

template <class Launch>
void run(benchmark::State& state, const Launch& launch) {
  Device device;
  if (!device.is_ready()) {
    state.SkipWithError("the module cannot be loaded");
    return;
  }
  void* x = nullptr;
  unsigned n = 0;
  void* arguments[] = {&x, &n};
  for (auto _ : state) {
    if (!launch(device.function(), arguments)) {
      state.SkipWithError("the launch failed");
      return;
    }
    device.clear();
  }
}

void by_driver(benchmark::State& state) {
  run(state, [](CUfunction function, void** arguments) {
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
               CUDA_SUCCESS &&
           cuCtxSynchronize() == CUDA_SUCCESS;
  });
}

// Launches the kernel by the runtime API. In the simulator, a CUfunction is a cudaKernel_t.
void by_runtime(benchmark::State& state) {
  run(state, [](CUfunction function, void** arguments) {
    const void* kernel = reinterpret_cast<const void*>(function);
    return cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
  });
}

BENCHMARK(by_driver)->Name("launching an empty kernel on the simulator/driver API");
BENCHMARK(by_runtime)->Name("launching an empty kernel on the simulator/runtime API");

}  // namespace
}  // namespace kernkit::bench

BENCHMARK_MAIN();
