// SPDX-License-Identifier: Apache-2.0
// Rows of Google Benchmark for an op; `kernkit report` reads their names. On the CPU the op runs in
// one thread on one processor, or with KERNKIT_BENCH_THREADS=all in as many threads as it uses by
// default, timed by the wall clock. On a GPU the op is timed by events.
//
//   time_calls(state, call)             times calls of an op, one in each iteration
//   add_rows(op, dtypes, sizes, body)   adds a row <op>/<dtype>/<library> for each dtype and size;
//                                       body(tag, state), with dispatch()'s tag, is the benchmark
//   add_memcpy_rows(dtypes, sizes, bytes)
//                                       adds a row of a copy for comparison with each of these
//                                       rows; bytes(tag, state) returns the number of bytes that
//                                       the op reads and writes: the copy reads one half and
//                                       writes the other half
#pragma once

#if defined(KERNKIT_ON_GPU)
#include "kernkit/testing/backends/gpu_benchmark.h"
#else
#include "kernkit/testing/backends/cpu_benchmark.h"
#endif

namespace kernkit::testing {

#if defined(KERNKIT_ON_GPU)
using gpu_benchmark::add_memcpy_rows;
using gpu_benchmark::add_rows;
using gpu_benchmark::time_calls;
#else
using cpu_benchmark::add_memcpy_rows;
using cpu_benchmark::add_rows;
using cpu_benchmark::time_calls;
#endif

}  // namespace kernkit::testing
