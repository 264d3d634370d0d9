// SPDX-License-Identifier: Apache-2.0
// The functions for benchmark rows that all backends share.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "kernkit/types/dtype.h"

namespace kernkit::testing {

/// The name of the measured library in the names of benchmark rows. kernkit_add_benchmarks()
/// defines the name as the macro KERNKIT_BENCHMARKED_LIBRARY.
#if defined(KERNKIT_BENCHMARKED_LIBRARY)
inline constexpr char kBenchmarked[] = KERNKIT_BENCHMARKED_LIBRARY;
#else
inline constexpr char kBenchmarked[] = "kernkit";
#endif

/// A function that gives a benchmark the names of its arguments, and one row for each set of
/// argument values.
using BenchmarkSizes = void(::benchmark::internal::Benchmark* rows);

namespace detail {
/// Returns "<first>/<dtype>/<last>".
template <class T>
std::string row_name(const char* first, const char* last) {
  return std::string(first) + "/" + dtype_name(dtype_of<T>).c_str() + "/" + last;
}

[[maybe_unused]] inline const bool benchmarked_is_noted = [] {
  ::benchmark::AddCustomContext("ours", kBenchmarked);
  return true;
}();
}  // namespace detail

}  // namespace kernkit::testing
