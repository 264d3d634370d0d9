// SPDX-License-Identifier: Apache-2.0
// What a test of a kernel costs on one core: 65,536 CUDA threads, and a launch of one block. Rows
// are named WHAT/WAY: "kernkit-ptx" runs what nvcc compiled by its PTX, where nvcc is; "source" is
// compiled for the CPU. It says nothing about a GPU.
#include <benchmark/benchmark.h>

#define KERNKIT_BENCH_WAY source
#include "kernkit/cuda_on_cpu/runtime.h"
#include "sdk/cuda_on_cpu_kernels.cuh"

namespace kernkit::bench {
namespace {

using Launch = void (*)(Kernel, unsigned, unsigned, float*, const float*);

void run(benchmark::State& state, Launch launch, Kernel kernel, unsigned blocks, unsigned threads) {
  cuda_on_cpu::CudaRuntime runtime;
  runtime.run_kernels(true);
  const size_t count = size_t{blocks} * threads;
  float *y = nullptr, *x = nullptr;
  cudaMallocManaged(&y, count * sizeof(float));
  cudaMallocManaged(&x, count * sizeof(float));
  for (size_t i = 0; i < count; ++i) x[i] = 1.0f;
  for (auto _ : state) {
    launch(kernel, blocks, threads, y, x);
    runtime.clear();
  }
  const float first = kernel == Kernel::kFiveShuffles ? 32.0f : 2.0f;
  if (y[0] != first || !runtime.faults().empty()) state.SkipWithError("the result is wrong");
  cudaFree(y);
  cudaFree(x);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count));
}

void add(const std::string& what, Kernel kernel, unsigned blocks, unsigned threads) {
  const auto add_way = [&](const char* way, Launch launch) {
    benchmark::RegisterBenchmark((what + "/" + way).c_str(), run, launch, kernel, blocks, threads)
        ->MeasureProcessCPUTime()
        ->UseRealTime();
  };
#if KERNKIT_BENCH_PTX
  add_way("kernkit-ptx", ptx::launch);
#endif
  add_way("source", source::launch);
}

}  // namespace
}  // namespace kernkit::bench

int main(int argc, char** argv) {
  using namespace kernkit::bench;  // NOLINT(build/namespaces): this is its program
  add("CUDA threads, no barrier", Kernel::kNoBarrier, 256, kThreads);
  add("CUDA threads, one barrier", Kernel::kOneBarrier, 256, kThreads);
  add("CUDA threads, five shuffles", Kernel::kFiveShuffles, 256, kThreads);
  add("launching one block of CUDA threads", Kernel::kNoBarrier, 1, 128);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
