// SPDX-License-Identifier: Apache-2.0
// @op@ on the CPU, and memcpy of as many bytes as the row to compare it with.
#include "@op@/@op@.h"

#include <benchmark/benchmark.h>

#include <cstring>

#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "kernkit/testing/tensor.h"

namespace @library@ {
namespace {

using kernkit::testing::HostTensor;

// The first fits every cache, the last none of most machines.
void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->Args({4, 256})->Args({256, 1024})->Args({8192, 4096});
}

template <class T>
void BM_@op@(benchmark::State& state) {
  const int64_t rows = state.range(0);
  const int64_t columns = state.range(1);
  HostTensor<T> @first@({rows, columns});
  HostTensor<T> @output@({rows}, {}, T(77.0f));
  fill_eighths(@first@, 1);
  @op@(@call@);
  const @Op@<T> op{@functor_constants@};
  for (int64_t i = 0; i < rows; ++i) {
    auto total = op.kIdentity;
    for (int64_t j = 0; j < columns; ++j) {
      total = op.combine(total, op.load(@first@[i * columns + j]));
    }
    const double exact = kernkit::testing::decode(op.finish(total));
    if (!kernkit::testing::is_near(@output@[i], exact)) {
      return state.SkipWithError("the result is wrong");
    }
  }
  for (auto _ : state) {
    @op@(@call@);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * rows * (columns + 1) *
                          static_cast<int64_t>(sizeof(T)));
}
BENCHMARK_TEMPLATE(BM_@op@, kernkit::float16)->Apply(shapes);
BENCHMARK_TEMPLATE(BM_@op@, kernkit::bfloat16)->Apply(shapes);
BENCHMARK_TEMPLATE(BM_@op@, float)->Apply(shapes);
BENCHMARK_TEMPLATE(BM_@op@, double)->Apply(shapes);

// Of half as many bytes as float reads, because it writes as many.
void BM_memcpy(benchmark::State& state) {
  const int64_t bytes = state.range(0) * state.range(1) * 2;
  HostTensor<unsigned char> from({bytes});
  HostTensor<unsigned char> to({bytes});
  for (auto _ : state) {
    std::memcpy(to.begin(), from.begin(), static_cast<size_t>(bytes));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * bytes);
}
BENCHMARK(BM_memcpy)->Apply(shapes);

}  // namespace
}  // namespace @library@
