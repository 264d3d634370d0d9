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

/// Times calls of an op by the wall clock, one in each iteration of the state. `call` takes no
/// argument, is copied, and waits for its own work. Its exceptions reach the caller.
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
  rows->UseRealTime();  // processor time leaves out helper threads, and waiting
  sizes(rows);
}
}  // namespace detail

/// Adds a row `<op>/<dtype>/<library>` for each dtype of the list and each size, where `<library>`
/// is kBenchmarked; with KERNKIT_BENCH_THREADS=all (see all_threads())
/// `<op>/<dtype>/<library>-threads`. `sizes` adds the names of a row's arguments and their values
/// to the row. `body(tag, state)` is the benchmark, with the tag of dispatch(), and returns
/// nothing.
///
/// The names are copied. `body` is copied and called, as const, when the benchmarks run: objects to
/// which it refers must live until then. Its exceptions are not caught. Rows are timed by the wall
/// clock. Call the function before benchmarks run. Throws only std::bad_alloc.
template <class... T, class Body>
void add_rows(const char* op, types<T...>, BenchmarkSizes* sizes, Body body) {
  const std::string implementation = std::string(kBenchmarked) + (all_threads() ? "-threads" : "");
  (detail::add_row<T>(op, implementation.c_str(), sizes, body), ...);
}

/// Adds a row `copy/<dtype>/memcpy` for comparison with each row on one thread; none with
/// KERNKIT_BENCH_THREADS=all. `sizes` adds the names of a row's arguments and their values to the
/// row. `bytes(tag, state)` returns the number of bytes that the op reads and writes: memcpy reads
/// one half and writes the other half. `bytes` is copied and called, as const, when the benchmarks
/// run. A row throws std::bad_alloc without memory.
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
