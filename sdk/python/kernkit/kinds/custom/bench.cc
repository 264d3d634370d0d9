// SPDX-License-Identifier: Apache-2.0
// @op@ on the CPU.
#include "@op@/@op@.h"

#include <benchmark/benchmark.h>

#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "kernkit/testing/tensor.h"

namespace @library@ {
namespace {

using kernkit::testing::HostTensor;

template <class T>
void BM_@op@(benchmark::State& state) {
  // Write it here: shapes, the check of the result, the bytes that are read and written.
  const int64_t count = state.range(0) / static_cast<int64_t>(sizeof(T));
  @make_bench_tensors@
  @op@(@call@);
  for (int64_t i = 0; i < count; ++i) {
    if (kernkit::testing::decode(@output@[i]) != 0) {
      return state.SkipWithError("the result is wrong");
    }
  }
  for (auto _ : state) {
    @op@(@call@);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_TEMPLATE(BM_@op@, kernkit::float16)->Arg(4 << 10)->Arg(64 << 20);
BENCHMARK_TEMPLATE(BM_@op@, float)->Arg(4 << 10)->Arg(64 << 20);

}  // namespace
}  // namespace @library@
