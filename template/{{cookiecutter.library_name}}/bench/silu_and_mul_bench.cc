// SPDX-License-Identifier: Apache-2.0
// silu_and_mul, and a copy of as many bytes as the row to compare it with: on the CPU and, as
// silu_and_mul_gpu_bench, on a GPU. `kernkit report` identifies the rows by their names.
#include "silu_and_mul/silu_and_mul.h"

#include "kernkit/testing/benchmark.h"
#include "kernkit/testing/test_device.h"
#include "silu_and_mul/silu_and_mul_reference.h"

namespace template_library {
namespace {

// Adds the numbers of rows and columns of y as arguments. The first size fits every cache, the last
// size exceeds the caches of most machines.
void shapes(benchmark::internal::Benchmark* rows) {
  rows->ArgNames({"n", "d"})->Args({1, 4096})->Args({64, 4096})->Args({1024, 8192});
}

// Number of bytes that the op reads and writes.
template <class T>
int64_t bytes(const benchmark::State& state) {
  return 3 * state.range(0) * state.range(1) * static_cast<int64_t>(sizeof(T));
}

template <class T>
void time_silu_and_mul(benchmark::State& state) {
  const int64_t n = state.range(0);
  const int64_t d = state.range(1);
  kernkit::testing::TestDevice device;
  kernkit::testing::TestTensor<T> x({n, 2 * d});
  kernkit::testing::TestTensor<T> y({n, d}, {}, quiet_nan<T>());
  fill_random(x);
  silu_and_mul(y.view("y"), x.view("x"));
  // Checks every 31st element of large tensors, which covers all columns.
  if (!device.faults().empty() || first_wrong(y, x, d, y.size() < 1 << 20 ? 1 : 31) != -1) {
    state.SkipWithError("the result is wrong");
    return;
  }
  kernkit::testing::time_calls(state, [&] { silu_and_mul(y.view("y"), x.view("x")); });
  state.SetBytesProcessed(state.iterations() * bytes<T>(state));
}

[[maybe_unused]] const bool kRegistered = [] {
  const auto time = [](auto tag, benchmark::State& state) {
    time_silu_and_mul<typename decltype(tag)::type>(state);
  };
  kernkit::testing::add_rows("silu_and_mul", SiluAndMulTypes{}, shapes, time);
  const auto moved = [](auto tag, const benchmark::State& state) {
    return bytes<typename decltype(tag)::type>(state);
  };
  kernkit::testing::add_memcpy_rows(SiluAndMulTypes{}, shapes, moved);
  return true;
}();

}  // namespace
}  // namespace template_library
