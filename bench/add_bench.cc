// SPDX-License-Identifier: Apache-2.0
#include "add/add.h"

#include "harness.h"

namespace kernkit::bench {
namespace {

template <class T>
void add(benchmark::State& state) {
  const int64_t n = state.range(0) / static_cast<int64_t>(sizeof(T));
  testing::HostTensor<T> x({n}), y({n}), z({n});
  fill_random(x);
  fill_random(y);
  poison(z);
  kernels::add(z.view("z"), x.view("x"), y.view("y"));
  for (int64_t i = 0; i < n; ++i) {
    const double sum =
        static_cast<double>(compute_t<T>(x[i])) + static_cast<double>(compute_t<T>(y[i]));
    if (static_cast<double>(compute_t<T>(z[i])) != sum) {
      return state.SkipWithError("the result is wrong");
    }
  }
  for (auto _ : state) {
    kernels::add(z.view("z"), x.view("x"), y.view("y"));
    benchmark::ClobberMemory();
  }
  count_bytes(state, 3 * state.range(0));
}

BENCHMARK(add<float>)->Name("add/float32")->Apply(array_sizes);
BENCHMARK(add<double>)->Name("add/float64")->Apply(array_sizes);
BENCHMARK(add<float16>)->Name("add/float16")->Apply(array_sizes);
BENCHMARK(add<bfloat16>)->Name("add/bfloat16")->Apply(array_sizes);
BENCHMARK(add<int8_t>)->Name("add/int8")->Apply(array_sizes);
BENCHMARK(add<int32_t>)->Name("add/int32")->Apply(array_sizes);

}  // namespace
}  // namespace kernkit::bench
