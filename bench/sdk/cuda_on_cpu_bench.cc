// SPDX-License-Identifier: Apache-2.0
// How many CUDA threads the CPU runs in a second, on one core: what a test of a kernel costs. It
// says nothing about a GPU.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <vector>

#include "kernkit/cuda_on_cpu/runtime.h"

namespace {

constexpr unsigned kBlocks = 256;
constexpr unsigned kThreads = 256;

__global__ void no_barrier(float* y, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
__global__ void one_barrier(float* y, const float* x) {
  __shared__ float tile[kThreads];
  const unsigned first = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  y[first + threadIdx.x] = 2 * tile[kThreads - 1 - threadIdx.x];
}
__global__ void five_shuffles(float* y, const float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = x[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  y[i] = sum;
}

void run(benchmark::State& state, void (*kernel)(float*, const float*), float first) {
  kernkit::cuda_on_cpu::CudaRuntime runtime;
  runtime.run_kernels(true);
  std::vector<float> x(size_t{kBlocks} * kThreads, 1.0f), y(x.size());
  cudaLaunchConfig_t config{};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  for (auto _ : state) {
    cudaLaunchKernelEx(&config, kernel, y.data(), x.data());
    runtime.clear();
  }
  if (y[0] != first || !runtime.faults().empty()) state.SkipWithError("the result is wrong");
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(x.size()));
}

}  // namespace

// items_per_second are CUDA threads.
BENCHMARK_CAPTURE(run, no_barrier, no_barrier, 2.0f)->UseRealTime();
BENCHMARK_CAPTURE(run, one_barrier, one_barrier, 2.0f)->UseRealTime();
BENCHMARK_CAPTURE(run, five_shuffles, five_shuffles, 32.0f)->UseRealTime();
