// SPDX-License-Identifier: Apache-2.0
// What the rows of benchmarks have in common on all backends.
#pragma once

#include <benchmark/benchmark.h>

namespace kernkit::testing {

/// The name of the measured library in rows, which kernkit_add_benchmarks() defines.
#if defined(KERNKIT_BENCHMARKED_LIBRARY)
inline constexpr char kBenchmarked[] = KERNKIT_BENCHMARKED_LIBRARY;
#else
inline constexpr char kBenchmarked[] = "kernkit";
#endif

/// Adds arguments to rows: their names, and a row for each of their values.
using BenchmarkSizes = void(::benchmark::internal::Benchmark* rows);

}  // namespace kernkit::testing
