// SPDX-License-Identifier: Apache-2.0
// Rows of an op on a GPU, timed by events (see kernkit/testing/benchmark.h).
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <string>

#include "kernkit/cuda/check.h"
#include "kernkit/dispatch.h"
#include "kernkit/env.h"
#include "kernkit/testing/backends/benchmark_rows.h"
#include "kernkit/testing/backends/gpu_clock.h"

namespace kernkit::testing::gpu_benchmark {

namespace detail {

/// Returns the time of one call of `call` with cold caches [seconds].
template <class Call>
double cold_time_of(const Call& call) {
  const auto on_stream = [&](cudaStream_t stream) {
    const StreamGuard guard({kDLCUDA, 0}, stream);
    call();
  };
  return gpu_clock().cold_seconds(1, on_stream)[0];
}

constexpr int kWarm = 3, kTimed = 20;
inline const ::benchmark::State* last_timed = nullptr;

}  // namespace detail

/// Times calls of an op on cuda:0 by CUDA events, one call in each iteration of the state, with
/// cold caches: memory of twice the size of the second-level cache is overwritten before each call.
/// `call` takes no argument, is copied, and enqueues its work in the current stream
/// (get_cuda_stream()), the stream of gpu_clock(); the function waits for the work of each call.
/// Three calls run untimed before the first iteration. The row must be one of add_rows(), which
/// uses manual times. cuda:0 must be the current device. Throws RuntimeError if CUDA fails or
/// without a host, and the exceptions of `call`.
template <class Call>
void time_calls(::benchmark::State& state, Call call) {
  detail::last_timed = &state;
  for (int i = 0; i < detail::kWarm; ++i) (void)detail::cold_time_of(call);
  for (auto _ : state) state.SetIterationTime(detail::cold_time_of(call));
}

namespace detail {
template <class T, class Body>
void add_row(const char* first, const char* last, BenchmarkSizes* sizes, Body body) {
  const std::string name = testing::detail::row_name<T>(first, last);
  auto* rows = ::benchmark::RegisterBenchmark(name.c_str(), [body](::benchmark::State& state) {
    int count = 0;
    if (!cuda::succeeded(cudaGetDeviceCount(&count)) || count == 0) {
      return state.SkipWithError("no CUDA device");
    }
    last_timed = nullptr;
    try {
      body(type_tag<T>{}, state);
    } catch (const Error& error) {
      return state.SkipWithError(error.what());
    }
    if (last_timed == nullptr && !state.error_occurred()) {
      state.SkipWithError("not timed: the benchmark calls no kernkit::testing::time_calls()");
    }
  });
  rows->UseManualTime()->Iterations(kTimed)->Unit(::benchmark::kMicrosecond);
  sizes(rows);
}

inline void note_cuda() {
  int runtime = 0, driver = 0;
  (void)cuda::succeeded(cudaRuntimeGetVersion(&runtime));
  (void)cuda::succeeded(cudaDriverGetVersion(&driver));
  ::benchmark::AddCustomContext("cuda_runtime", std::to_string(runtime));
  ::benchmark::AddCustomContext("cuda_of_driver", std::to_string(driver));
}
[[maybe_unused]] inline const bool context_is_noted = (note_cuda(), true);
}  // namespace detail

/// Adds a row `<op>/<dtype>/<library>` for each dtype of the list and each size, where `<library>`
/// is kBenchmarked. `sizes`, which is called once for each dtype, adds the names and values of the
/// arguments of rows. `body(tag, state)` is the benchmark, with the tag of dispatch() for the
/// dtype; it calls time_calls(state, ...), and its result is ignored. A row has 20 timed
/// iterations.
///
/// The names are copied. `body` is copied and called, as const, when the benchmarks run: objects to
/// which `body` refers must live until then. A row is skipped with the reason if there is no CUDA
/// device, if `body` throws an Error, or if `body` returns without a call of time_calls(); other
/// exceptions are not caught. Call the function before benchmarks run. Throws std::bad_alloc and
/// the exceptions of `sizes`.
template <class... T, class Body>
void add_rows(const char* op, types<T...>, BenchmarkSizes* sizes, Body body) {
  (detail::add_row<T>(op, kBenchmarked, sizes, body), ...);
}

/// Adds a row `copy/<dtype>/cudaMemcpyAsync`, a copy within the memory of cuda:0, for each dtype of
/// the list and each size, for comparison with the rows of add_rows(). `sizes` is a function as for
/// add_rows(). `bytes(tag, state)` returns the number of bytes that the op reads and writes, an
/// integer of at least 2: the copy reads one half, rounded down, and writes as many bytes; the row
/// reports the sum of both. `bytes` is copied and called, as const, when the benchmarks run. A row
/// is skipped with the reason if there is no CUDA device or CUDA fails. Call the function before
/// benchmarks run. Throws std::bad_alloc and the exceptions of `sizes`.
template <class... T, class Bytes>
void add_memcpy_rows(types<T...>, BenchmarkSizes* sizes, Bytes bytes) {
  const auto body = [bytes](auto tag, ::benchmark::State& state) {
    const auto half = static_cast<size_t>(bytes(tag, state) / 2);
    void *from = nullptr, *to = nullptr;
    KERNKIT_CUDA_CHECK(cudaMalloc(&from, half));
    KERNKIT_CUDA_CHECK(cudaMalloc(&to, half));
    time_calls(state, [&] {
      KERNKIT_CUDA_CHECK(
          cudaMemcpyAsync(to, from, half, cudaMemcpyDeviceToDevice, gpu_clock().stream()));
    });
    KERNKIT_CUDA_CHECK(cudaFree(from));
    KERNKIT_CUDA_CHECK(cudaFree(to));
    state.SetBytesProcessed(state.iterations() * 2 * static_cast<int64_t>(half));
  };
  (detail::add_row<T>("copy", "cudaMemcpyAsync", sizes, body), ...);
}

}  // namespace kernkit::testing::gpu_benchmark
