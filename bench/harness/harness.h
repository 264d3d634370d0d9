// SPDX-License-Identifier: Apache-2.0
// The harness of CPU benchmarks of elementwise ops: array sizes, input data, and a check of the
// result before timing.
//
// Rows are named <op>/<dtype>/<implementation>/bytes:<size of one array>. Benchmarks run on one
// thread, bound to one processor. With KERNKIT_BENCH_THREADS=all, kernkit's ops choose the number
// of threads, and the implementation is named kernkit-threads.
#pragma once

#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "kernkit/apply.h"
#include "kernkit/errors/message.h"
#include "kernkit/float.h"
#include "kernkit/tensor.h"
#include "kernkit/testing/compiler.h"
#include "kernkit/testing/one_thread.h"

namespace kernkit::bench {

/// Sizes of one array [bytes]: for each cache level, and larger than the last level.
inline constexpr int64_t kSizes[] = {4 << 10,  64 << 10, 1 << 20,  4 << 20,
                                     16 << 20, 64 << 20, 512 << 20};

using testing::all_threads;

/// Returns the largest of kSizes for which four arrays fit into free memory [bytes].
inline int64_t largest_size() {
  const int64_t available = static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  int64_t largest = kSizes[0];
  for (const int64_t size : kSizes) largest = size <= available / 4 ? size : largest;
  return largest;
}

/// Returns page-aligned memory, which all rows of the process share, so that all rows use the same
/// pages. Array 0 is the output. Returns null if there is not enough memory.
inline unsigned char* array(int which, int64_t bytes) {
  struct Free {
    void operator()(unsigned char* memory) const { free(memory); }
  };
  static const int64_t largest = largest_size();
  static std::unique_ptr<unsigned char, Free> arrays[3];
  if (bytes > largest) return nullptr;
  if (!arrays[which]) {
    arrays[which].reset(
        static_cast<unsigned char*>(aligned_alloc(4096, static_cast<size_t>(largest))));
  }
  return arrays[which].get();
}

/// The length of the random sequence that an array repeats [bytes]: a multiple of every element
/// size, and not a power of two. Values are 1 to 30; twice a value, and the sum of two values, are
/// exact in every dtype.
inline constexpr int64_t kPeriod = 16 * 4099;
template <class T>
std::vector<T> random_period(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> value(1, 30);
  std::vector<T> values(kPeriod / sizeof(T));
  for (T& v : values) v = static_cast<T>(static_cast<compute_t<T>>(value(generator)));
  return values;
}

template <class T>
void repeat(const std::vector<T>& period, unsigned char* to, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kPeriod) {
    memcpy(to + at, period.data(), static_cast<size_t>(std::min(kPeriod, bytes - at)));
  }
}

/// Returns whether the memory consists of repetitions of the period.
template <class T>
bool repeats(const std::vector<T>& period, const unsigned char* memory, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kPeriod) {
    const auto count = static_cast<size_t>(std::min(kPeriod, bytes - at));
    if (memcmp(memory + at, period.data(), count) != 0) return false;
  }
  return true;
}

/// A contiguous tensor over borrowed memory.
template <class T>
class Borrowed {
 public:
  Borrowed(const T* data, int64_t n) : n_(n) {
    dl_.data = const_cast<T*>(data);
    dl_.device = {kDLCPU, 0};
    dl_.dtype = dtype_of<T>;
    dl_.ndim = 1;
    dl_.shape = &n_;
    dl_.strides = &unit_stride_;
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  TensorView view(const char* name) const { return {&dl_, name}; }

 private:
  int64_t n_, unit_stride_ = 1;
  DLTensor dl_{};
};

/// The row (first) and the array size in bytes (second) of the inputs and the verified output that
/// the arrays contain.
inline std::pair<int, int64_t> verified{-1, 0};
/// Number of rows that add_sizes() has numbered.
inline int number_of_rows = 0;

/// Runs one row: fills the inputs with random values and the output with a pattern, runs `call(n,
/// out, in...)` or the function that `call` returns, compares every element with `op`, and then
/// measures the time. Google Benchmark calls run() repeatedly to choose the number of iterations; a
/// row is verified in the first call only.
template <class T, int kInputs, class Op, class Call>
void run(benchmark::State& state, int row, const Op& op, const Call& call) {
  static_assert(kInputs == 1 || kInputs == 2);
  const int64_t bytes = state.range(0), n = bytes / static_cast<int64_t>(sizeof(T));
  unsigned char* memory[3] = {};
  for (int i = 0; i <= kInputs; ++i) {
    memory[i] = array(i, bytes);
    if (memory[i] == nullptr) return state.SkipWithError("skipped: there is not enough memory");
  }
  auto* out = reinterpret_cast<T*>(memory[0]);
  const auto* x = reinterpret_cast<const T*>(memory[1]);
  [[maybe_unused]] const auto* y = reinterpret_cast<const T*>(memory[2]);
  const auto start = [&] {
    if constexpr (kInputs == 1) {
      return call(n, out, x);
    } else {
      return call(n, out, x, y);
    }
  };
  const auto once = [&] {
    if constexpr (std::is_void_v<decltype(start())>) {
      return start;
    } else {
      return start();
    }
  }();
  if (verified != std::pair(row, bytes)) {
    const std::vector<T> first = random_period<T>(1), second = random_period<T>(2);
    std::vector<T> expected = first;
    for (size_t i = 0; i < expected.size(); ++i) {
      if constexpr (kInputs == 1) {
        expected[i] = apply_op<T>(op, first[i]);
      } else {
        expected[i] = apply_op<T>(op, first[i], second[i]);
      }
    }
    repeat(first, memory[1], bytes);
    if (kInputs == 2) repeat(second, memory[2], bytes);
    std::fill_n(memory[0], bytes, static_cast<unsigned char>(0x7e));
    once();
    if (!repeats(expected, memory[0], bytes)) return state.SkipWithError("the result is wrong");
    verified = {row, bytes};
  }
  for (auto _ : state) {
    once();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes * (kInputs + 1));
}

/// The largest size whose rows are repeated [bytes]. Rows of larger arrays take long, and their
/// times differ little between repetitions.
inline constexpr int64_t kRepeatedSize = 16 << 20;

/// Registers a row <name>/bytes:<size> for each of kSizes, and for the additional size `another`
/// [bytes] unless `another` is 0.
template <class T, int kInputs, class Op, class Call>
void add_sizes(const char* name, Op op, Call call, int64_t another = 0) {
  const auto body = [=, row = number_of_rows++](benchmark::State& state) {
    run<T, kInputs>(state, row, op, call);
  };
  const auto add_size = [&](int64_t bytes) {
    auto* added = benchmark::RegisterBenchmark(name, body)->ArgName("bytes")->Arg(bytes);
    added->UseRealTime();
    if (bytes > kRepeatedSize) added->Repetitions(1);
  };
  for (const int64_t bytes : kSizes) add_size(bytes);
  if (another > 0) add_size(another);
}

/// Registers a row <op>/<dtype>/<implementation>/bytes:<size> for each of kSizes, where <op> is
/// `name`. `call(n, out, in...)` is timed; `op` computes the expected values. The implementation
/// "kernkit" is the op's own function, and the only implementation that is timed with all threads.
template <class T, int kInputs, class Op, class Call>
void add_rows(const char* name, const char* implementation, Op op, Call call) {
  const bool is_kernkit = strcmp(implementation, "kernkit") == 0;
  if (all_threads() && !is_kernkit) return;
  Message row;
  row << name << "/" << dtype_of<T> << "/" << implementation << (all_threads() ? "-threads" : "");
  add_sizes<T, kInputs>(row.c_str(), op, call);
}

/// Computes out[i] = op(in[i]...) by a plain loop, compiled with the flags of the kernels: the
/// implementation without a library.
template <class Op, class T, class... In>
void plain_loop(const Op& op, int64_t n, T* out, const In*... in) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
  for (int64_t i = 0; i < n; ++i) out[i] = apply_op<T>(op, in[i]...);
}

}  // namespace kernkit::bench
