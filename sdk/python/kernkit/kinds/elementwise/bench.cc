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

// Bytes of each array. The first fits every cache, the last none of most machines.
void sizes(benchmark::internal::Benchmark* rows) {
  rows->ArgName("bytes")->Arg(4 << 10)->Arg(1 << 20)->Arg(64 << 20);
}

template <class T>
void BM_@op@(benchmark::State& state) {
  const int64_t count = state.range(0) / static_cast<int64_t>(sizeof(T));
  @make_bench_inputs@
  HostTensor<T> @output@({count}, {}, T(77.0f));
  @op@(@call@);
  const @Op@<T> op{@functor_constants@};
  for (int64_t i = 0; i < count; ++i) {
    if (!kernkit::testing::same_bits(@output@[i], op(@elements@))) {
      return state.SkipWithError("the result is wrong");
    }
  }
  for (auto _ : state) {
    @op@(@call@);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * @tensor_count@ * state.range(0));
}
BENCHMARK_TEMPLATE(BM_@op@, kernkit::float16)->Apply(sizes);
BENCHMARK_TEMPLATE(BM_@op@, kernkit::bfloat16)->Apply(sizes);
BENCHMARK_TEMPLATE(BM_@op@, float)->Apply(sizes);
BENCHMARK_TEMPLATE(BM_@op@, double)->Apply(sizes);

void BM_memcpy(benchmark::State& state) {
  HostTensor<unsigned char> from({state.range(0)});
  HostTensor<unsigned char> to({state.range(0)});
  for (auto _ : state) {
    std::memcpy(to.begin(), from.begin(), static_cast<size_t>(state.range(0)));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * state.range(0));
}
BENCHMARK(BM_memcpy)->Apply(sizes);

}  // namespace
}  // namespace @library@
