// SPDX-License-Identifier: Apache-2.0
// What every benchmark of an elementwise op shares: sizes, data, the copy of the same size.
#pragma once

#include <benchmark/benchmark.h>

#include <cstring>
#include <random>

#include "kernkit/testing/tensor.h"

namespace kernkit::bench {

/// Bytes per array: in the first-level cache, in the second, in the last, and beyond.
inline void array_sizes(benchmark::internal::Benchmark* rows) {
  rows->ArgName("bytes")->Arg(4 << 10)->Arg(64 << 10)->Arg(1 << 20)->Arg(16 << 20)->Arg(128 << 20);
}

/// Random values whose sums and small multiples are finite in every dtype; never zero.
template <class T>
void fill_random(testing::HostTensor<T>& x) {
  std::mt19937 generator(1);
  std::uniform_int_distribution<int> value(1, 30);
  for (T& element : x) element = static_cast<T>(static_cast<compute_t<T>>(value(generator)));
}

/// Overwrites an output, so that what a check finds there was written by the kernel.
template <class T>
void poison(testing::HostTensor<T>& y) {
  std::memset(static_cast<void*>(y.begin()), 0x7e, static_cast<size_t>(y.size()) * sizeof(T));
}

/// Reports the bytes that the program reads and writes per iteration.
inline void count_bytes(benchmark::State& state, int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

/// The row to compare with: memcpy of arrays of the same size.
inline void copy(benchmark::State& state) {
  const int64_t bytes = state.range(0);
  testing::HostTensor<uint8_t> x({bytes}), y({bytes});
  fill_random(x);
  for (auto _ : state) {
    std::memcpy(y.begin(), x.begin(), static_cast<size_t>(bytes));
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * bytes);
}
BENCHMARK(copy)->Name("memcpy")->Apply(array_sizes);

}  // namespace kernkit::bench
