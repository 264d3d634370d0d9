// SPDX-License-Identifier: Apache-2.0
// The loops of scale and add by other libraries. A loop exists if CMake found the library's
// package. Arrays have n elements and do not overlap.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

#include "kernkit/float.h"

namespace kernkit::bench {

#if KERNKIT_BENCH_EIGEN
// Compute y = x * factor and z = x + y, elementwise, by Eigen. T is float, float16 or bfloat16.
template <class T>
void eigen_scale(int64_t n, T* y, const T* x, float factor);
template <class T>
void eigen_add(int64_t n, T* z, const T* x, const T* y);
#endif

#if KERNKIT_BENCH_HIGHWAY
void highway_scale(int64_t n, float* y, const float* x, float factor);
void highway_add(int64_t n, float* z, const float* x, const float* y);
#endif

/// Adds a row for every missing library, with the reason.
inline void add_missing_peers() {
  [[maybe_unused]] const auto add = [](const char* name, const char* reason) {
    benchmark::RegisterBenchmark(
        name, [reason](benchmark::State& state) { state.SkipWithError(reason); });
  };
#if !KERNKIT_BENCH_EIGEN
  add("peers/eigen", "skipped: Eigen was not found in the build; install libeigen3-dev");
#endif
#if !KERNKIT_BENCH_HIGHWAY
  add("peers/highway", "skipped: Highway was not found in the build; install libhwy-dev");
#endif
}

}  // namespace kernkit::bench
