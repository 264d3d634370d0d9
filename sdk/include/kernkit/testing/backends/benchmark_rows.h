// SPDX-License-Identifier: Apache-2.0
// The functions for benchmark rows that all backends share.
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "kernkit/types/dtype.h"

namespace kernkit::testing {

/// Name of the measured library in rows, which kernkit_add_benchmarks() defines as
/// KERNKIT_BENCHMARKED_LIBRARY.
#if defined(KERNKIT_BENCHMARKED_LIBRARY)
inline constexpr char kBenchmarked[] = KERNKIT_BENCHMARKED_LIBRARY;
#else
inline constexpr char kBenchmarked[] = "kernkit";
#endif

/// A function that adds arguments to rows: their names, and a row for each of their values.
using BenchmarkSizes = void(::benchmark::internal::Benchmark* rows);

namespace detail {
/// "<first>/<dtype>/<last>"
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
