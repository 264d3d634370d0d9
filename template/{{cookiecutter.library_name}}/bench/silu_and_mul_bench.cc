// SPDX-License-Identifier: Apache-2.0
// silu_and_mul on the CPU, and memcpy of as many bytes as the row to compare it with. `kernkit
// report` knows by the names which are which.
#include <benchmark/benchmark.h>

#include <cstring>

#include "silu_and_mul/silu_and_mul.h"
#include "silu_and_mul/silu_and_mul_reference.h"

namespace template_library {
namespace {

// Rows and columns of y. The first fits every cache, the last none of most machines.
void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"n", "d"})->Args({1, 4096})->Args({64, 4096})->Args({1024, 8192});
}

// What the op reads and writes.
template <class T>
int64_t bytes(int64_t n, int64_t d) {
  return 3 * n * d * static_cast<int64_t>(sizeof(T));
}

template <class T>
void BM_silu_and_mul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const int64_t d = state.range(1);
  kernkit::testing::HostTensor<T> x({n, 2 * d});
  kernkit::testing::HostTensor<T> y({n, d}, {}, quiet_nan<T>());
  fill_random(x);
  silu_and_mul(y.view("y"), x.view("x"));
  // Of large tensors every 31st element, which is each column in some row.
  if (first_wrong(y, x, d, y.size() < 1 << 20 ? 1 : 31) != -1) {
    state.SkipWithError("the result is wrong");
    return;
  }
  for (auto _ : state) {
    silu_and_mul(y.view("y"), x.view("x"));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes<T>(n, d));
}
BENCHMARK_TEMPLATE(BM_silu_and_mul, kernkit::float16)
    ->Name("silu_and_mul/float16/kernkit")
    ->Apply(shapes);
BENCHMARK_TEMPLATE(BM_silu_and_mul, kernkit::bfloat16)
    ->Name("silu_and_mul/bfloat16/kernkit")
    ->Apply(shapes);
BENCHMARK_TEMPLATE(BM_silu_and_mul, float)->Name("silu_and_mul/float32/kernkit")->Apply(shapes);
BENCHMARK_TEMPLATE(BM_silu_and_mul, double)->Name("silu_and_mul/float64/kernkit")->Apply(shapes);

template <class T>
void BM_memcpy(benchmark::State& state) {
  const int64_t total = bytes<T>(state.range(0), state.range(1));
  // memcpy reads half of them and writes half.
  kernkit::testing::HostTensor<T> from({total / 2 / static_cast<int64_t>(sizeof(T))});
  kernkit::testing::HostTensor<T> to({from.size()});
  for (auto _ : state) {
    std::memcpy(to.begin(), from.begin(), static_cast<size_t>(total / 2));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * total);
}
BENCHMARK_TEMPLATE(BM_memcpy, kernkit::float16)->Name("copy/float16/memcpy")->Apply(shapes);
BENCHMARK_TEMPLATE(BM_memcpy, kernkit::bfloat16)->Name("copy/bfloat16/memcpy")->Apply(shapes);
BENCHMARK_TEMPLATE(BM_memcpy, float)->Name("copy/float32/memcpy")->Apply(shapes);
BENCHMARK_TEMPLATE(BM_memcpy, double)->Name("copy/float64/memcpy")->Apply(shapes);

}  // namespace
}  // namespace template_library
