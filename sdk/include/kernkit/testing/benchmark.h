// SPDX-License-Identifier: Apache-2.0
// Rows of Google Benchmark for an op, by the names from which `kernkit report` knows what is what.
#pragma once

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "kernkit/dispatch.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::testing {

/// What gives rows their arguments: names, and a row for each of their values.
using BenchmarkSizes = void(::benchmark::internal::Benchmark* rows);

namespace detail {
template <class T, class Body>
void add_row(const char* first, const char* last, BenchmarkSizes* sizes, Body body) {
  const std::string name = std::string(first) + "/" + dtype_name(dtype_of<T>).c_str() + "/" + last;
  sizes(::benchmark::RegisterBenchmark(
      name.c_str(), [body](::benchmark::State& state) { body(type_tag<T>{}, state); }));
}
}  // namespace detail

/// A row `<op>/<dtype>/kernkit` for each dtype of the list and each size: `body(tag, state)`, with
/// the tag that dispatch() gives, is the benchmark.
template <class... T, class Body>
void add_rows(const char* op, types<T...>, BenchmarkSizes* sizes, Body body) {
  (detail::add_row<T>(op, "kernkit", sizes, body), ...);
}

/// A row `copy/<dtype>/memcpy` for each of those, to compare them with: `bytes(tag, state)` are
/// what the op reads and writes, of which memcpy reads one half and writes the other.
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
  (detail::add_row<T>("copy", "memcpy", sizes, body), ...);
}

}  // namespace kernkit::testing
