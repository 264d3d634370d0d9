// SPDX-License-Identifier: Apache-2.0
// The cost of a kernel's test on one core: launches of 65,536 CUDA threads, and of one block. The
// times do not estimate times on a GPU. Rows are named <what>/<variant>: "kernkit-ptx" executes the
// PTX of nvcc, if nvcc was found; "source" is compiled for the CPU; "racecheck" and other names of
// tools execute the PTX with that tool.
#include <benchmark/benchmark.h>

#include <tuple>
#include <vector>

#define KERNKIT_BENCH_VARIANT source
#include "kernkit/simulator/runtime.h"
#include "sdk/simulator_kernels.cuh"
#if KERNKIT_BENCH_PTX
#include "kernkit/simulator/counters.h"
#include "kernkit/simulator/initcheck.h"
#include "kernkit/simulator/racecheck.h"
#endif

namespace kernkit::bench {
namespace {

using Launch = void (*)(Kernel, unsigned, unsigned, float*, const float*);

template <class... Tools>
void run(benchmark::State& state, Launch launch, Kernel kernel, unsigned blocks, unsigned threads) {
  simulator::CudaRuntime runtime;
  runtime.run_kernels(true);
  [[maybe_unused]] const std::tuple<Tools...> tools;
  const size_t count = size_t{blocks} * (kernel == Kernel::kRmsNorm ? kColumns : threads);
  const size_t bytes = count * sizeof(float);
  float *y = nullptr, *x = nullptr, first = 0;
  cudaMalloc(&y, bytes);
  cudaMalloc(&x, bytes);
  cudaMemcpy(x, std::vector<float>(count, 1.0f).data(), bytes, cudaMemcpyHostToDevice);
  for (auto _ : state) {
    launch(kernel, blocks, threads, y, x);
    runtime.clear();
  }
  cudaMemcpy(&first, y, sizeof(first), cudaMemcpyDeviceToHost);
  const float expected[] = {2, 2, 32, 1};
  if (first != expected[static_cast<int>(kernel)] || !runtime.faults().empty()) {
    state.SkipWithError("the result is wrong");
  }
  cudaFree(y);
  cudaFree(x);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(blocks) * threads);
}

template <class... Tools>
void add_variant(const std::string& name, Launch launch, Kernel kernel, unsigned blocks,
                 unsigned threads) {
  benchmark::RegisterBenchmark(name.c_str(), run<Tools...>, launch, kernel, blocks, threads)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

void add(const std::string& label, Kernel kernel, unsigned blocks, unsigned threads) {
#if KERNKIT_BENCH_PTX
  add_variant(label + "/kernkit-ptx", ptx::launch, kernel, blocks, threads);
#endif
  add_variant(label + "/source", source::launch, kernel, blocks, threads);
}

// Adds rows that run a kernel's PTX without tools, with counters, with fault detectors, and with
// both. memcheck and synccheck are always active.
void add_tools([[maybe_unused]] const std::string& label, [[maybe_unused]] Kernel kernel) {
#if KERNKIT_BENCH_PTX
  using simulator::Counting, simulator::InitCheck, simulator::RaceCheck;
  const auto add_tool = [&](const char* tool, auto add_one) {
    add_one("tools, " + label + "/" + tool, ptx::launch, kernel, 256, kThreads);
  };
  add_tool("none", add_variant<>);
  add_tool("counters", add_variant<Counting>);
  add_tool("racecheck", add_variant<RaceCheck>);
  add_tool("initcheck", add_variant<InitCheck>);
  add_tool("all", add_variant<Counting, RaceCheck, InitCheck>);
#endif
}

}  // namespace
}  // namespace kernkit::bench

int main(int argc, char** argv) {
  using namespace kernkit::bench;  // NOLINT(build/namespaces): this is its program
  add("CUDA threads, no barrier", Kernel::kNoBarrier, 256, kThreads);
  add("CUDA threads, one barrier", Kernel::kOneBarrier, 256, kThreads);
  add("CUDA threads, five shuffles", Kernel::kFiveShuffles, 256, kThreads);
  add("launching one block of CUDA threads", Kernel::kNoBarrier, 1, 128);
  add_tools("no barrier", Kernel::kNoBarrier);
  add_tools("one barrier", Kernel::kOneBarrier);
  add_tools("five shuffles", Kernel::kFiveShuffles);
  add_tools("RMSNorm", Kernel::kRmsNorm);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
