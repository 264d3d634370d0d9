// SPDX-License-Identifier: Apache-2.0
// Rows of Google Benchmark for an op, whose names `kernkit report` reads. On the CPU, one thread on
// one processor, or with KERNKIT_BENCH_THREADS=all as many as the op takes by itself; on a GPU,
// times of events.
//
//   time_calls(state, call)             times calls of an op, one in each iteration
//   add_rows(op, dtypes, sizes, body)   a row <op>/<dtype>/<library> for each dtype and size:
//                                       body(tag, state), with dispatch()'s tag, is the benchmark
//   add_memcpy_rows(dtypes, sizes, bytes)
//                                       a row of a copy for each of these rows, to compare them
//                                       with: bytes(tag, state) are what the op reads and writes,
//                                       half of which the copy reads and half it writes
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
