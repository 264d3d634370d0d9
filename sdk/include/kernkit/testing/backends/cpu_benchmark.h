// SPDX-License-Identifier: Apache-2.0
// Rows of an op on the CPU, timed by the wall clock (see kernkit/testing/benchmark.h).
#pragma once

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "kernkit/dispatch.h"
#include "kernkit/testing/backends/benchmark_rows.h"
#include "kernkit/testing/compiler.h"
#include "kernkit/testing/one_thread.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing::cpu_benchmark {

/// Calls `call()`, a call of an op, once in each iteration of the state, which times the
/// iterations; rows of add_rows() are timed by the wall clock. `call` takes no argument, is copied,
/// and returns after its work has ended. Throws only the exceptions of `call` and of its copy.
template <class Call>
void time_calls(::benchmark::State& state, Call call) {
  for (auto _ : state) {
    call();
    ::benchmark::ClobberMemory();
  }
}

namespace detail {
template <class T, class Body>
void add_row(const char* first, const char* last, BenchmarkSizes* sizes, Body body) {
  const std::string name = testing::detail::row_name<T>(first, last);
  auto* rows = ::benchmark::RegisterBenchmark(
      name.c_str(), [body](::benchmark::State& state) { body(type_tag<T>{}, state); });
  rows->UseRealTime();  // processor time excludes helper threads and waiting
  sizes(rows);
}
}  // namespace detail

/// Adds a row `<op>/<dtype>/<library>` for each dtype of the list and each size, where `<library>`
/// is kBenchmarked; with KERNKIT_BENCH_THREADS=all (see all_threads()), the name is
/// `<op>/<dtype>/<library>-threads`. `sizes`, which is called once for each dtype, adds the names
/// and values of the arguments of rows. `body(tag, state)` is the benchmark, with the tag of
/// dispatch() for the dtype; its result is ignored.
///
/// The names are copied. `body` is copied and called, as const, when the benchmarks run: objects to
/// which `body` refers must live until then. Google Benchmark does not catch the exceptions of
/// `body`. Rows are timed by the wall clock. The call restricts its thread as all_threads() does;
/// call the function before benchmarks run. Throws std::bad_alloc and the exceptions of `sizes`.
template <class... T, class Body>
void add_rows(const char* op, types<T...>, BenchmarkSizes* sizes, Body body) {
  const std::string implementation = std::string(kBenchmarked) + (all_threads() ? "-threads" : "");
  (detail::add_row<T>(op, implementation.c_str(), sizes, body), ...);
}

/// Adds a row `copy/<dtype>/memcpy` for each dtype of the list and each size, for comparison with
/// the rows of add_rows(); adds nothing with KERNKIT_BENCH_THREADS=all (see all_threads()). `sizes`
/// is a function as for add_rows(). `bytes(tag, state)` returns the number of bytes that the op
/// reads and writes, an integer of at least 0: memcpy reads one half, rounded down, and writes as
/// many bytes; the row reports the sum of both. `bytes` is copied and called, as const, when the
/// benchmarks run; a row throws the exceptions of `bytes`, and std::bad_alloc without memory. Call
/// the function before benchmarks run. Throws std::bad_alloc and the exceptions of `sizes`.
template <class... T, class Bytes>
void add_memcpy_rows(types<T...>, BenchmarkSizes* sizes, Bytes bytes) {
  const auto body = [bytes](auto tag, ::benchmark::State& state) {
    const int64_t half = bytes(tag, state) / 2;
    HostTensor<unsigned char> from({half}), to({half});
    for (auto _ : state) {
      std::memcpy(to.begin(), from.begin(), static_cast<size_t>(half));
      ::benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * 2 * half);
  };
  if (!all_threads()) (detail::add_row<T>("copy", "memcpy", sizes, body), ...);
}

}  // namespace kernkit::testing::cpu_benchmark
