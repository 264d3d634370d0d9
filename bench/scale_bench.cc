// SPDX-License-Identifier: Apache-2.0
#include "scale/scale.h"

#include "harness.h"

namespace kernkit::bench {
namespace {

template <class T>
void scale(benchmark::State& state) {
  const int64_t n = state.range(0) / static_cast<int64_t>(sizeof(T));
  testing::HostTensor<T> x({n}), y({n});
  fill_random(x);
  poison(y);
  kernels::scale(y.view("y"), x.view("x"), 2.0);
  for (int64_t i = 0; i < n; ++i) {
    if (static_cast<double>(compute_t<T>(y[i])) != 2 * static_cast<double>(compute_t<T>(x[i]))) {
      return state.SkipWithError("the result is wrong");
    }
  }
  for (auto _ : state) {
    kernels::scale(y.view("y"), x.view("x"), 2.0);
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * state.range(0));
}

BENCHMARK(scale<float>)->Name("scale/float32")->Apply(array_sizes);
BENCHMARK(scale<double>)->Name("scale/float64")->Apply(array_sizes);
BENCHMARK(scale<float16>)->Name("scale/float16")->Apply(array_sizes);
BENCHMARK(scale<bfloat16>)->Name("scale/bfloat16")->Apply(array_sizes);

}  // namespace
}  // namespace kernkit::bench
