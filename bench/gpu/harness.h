// SPDX-License-Identifier: Apache-2.0
// The harness of GPU benchmarks: device memory, input data, timing, and copies for comparison.
//
// Rows are named <op>/<dtype>/<implementation>/<cold or hot>/bytes:<size of one array>.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <vector>

#include "kernkit/cuda/check.h"
#include "kernkit/float.h"
#include "kernkit/tensor.h"

namespace kernkit::bench {

/// Returns the reason why no row can run, such as a missing device, or "" if a device exists.
const std::string& no_device();

/// Device memory of one row. The constructor throws RuntimeError if cudaMalloc() fails.
class DeviceArray {
 public:
  explicit DeviceArray(int64_t bytes) : bytes_(bytes) {
    KERNKIT_CUDA_CHECK(cudaMalloc(&data_, static_cast<size_t>(bytes)));
  }
  ~DeviceArray() { (void)cuda::succeeded(cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void* data() const { return data_; }
  /// Fills the array with repetitions of the period.
  void fill(const std::vector<unsigned char>& period);
  /// Overwrites the array with a pattern, so that correct contents after a launch show that the
  /// kernel wrote them.
  void poison();
  /// Returns the number of bytes that differ from the repeated period.
  int64_t wrong(const std::vector<unsigned char>& period) const;

 private:
  int64_t bytes_;
  void* data_ = nullptr;
};

/// Length of a period [bytes]: a multiple of every element size, and not a power of two.
inline constexpr int64_t kPeriod = 16 * 65521;

/// Returns a period of elements of T from 1 to 30, in an order that depends on `seed`. Twice an
/// element, and the sum of two elements, are exact in every dtype.
template <class T>
std::vector<T> period_of(int seed) {
  std::vector<T> values(kPeriod / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t value = (i * 7 + i / 30 + static_cast<size_t>(seed)) % 30 + 1;
    values[i] = static_cast<T>(static_cast<compute_t<T>>(value));
  }
  return values;
}
template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const unsigned char*>(values.data());
  return std::vector<unsigned char>(first, first + values.size() * sizeof(T));
}

/// How time_of() measures. kCold: the median of 16 launches, each after a write of twice the size
/// of the second-level cache; the host waits once at the end. kHot: the mean of 64 launches in a
/// graph, replayed after one warm-up.
enum class Caches { kCold, kHot };
/// Returns the time of one launch [seconds].
double time_of(const std::function<void(cudaStream_t)>& launch, Caches caches);

/// Returns the copy rate for arrays of this size [bytes read and written per second]: the rate of
/// cudaMemcpyAsync or of a copy kernel, whichever is faster. Measured once per process for each
/// size and state of the caches.
double copy_rate(int64_t bytes, Caches caches);

/// Runs one row: reports why the row cannot run, or verifies the result, measures the time and
/// counts the bytes. The op accesses `arrays` arrays of `bytes`. `prepare` is called once,
/// allocates the row's memory and returns the function that is timed; an exception from `prepare`
/// makes the row invalid.
void run(benchmark::State& state, int arrays, Caches caches,
         const std::function<std::function<void(cudaStream_t)>(int64_t bytes)>& prepare);

/// Adds a row for each size of one array, from 4 KiB to 4 GiB; for hot caches, only for sizes that
/// may fit into a cache.
void sizes(benchmark::internal::Benchmark* rows, Caches caches);

/// Registers the rows <name>/cold and <name>/hot, for each size of sizes().
template <class Prepare>
void add_rows(const std::string& name, int arrays, Prepare prepare) {
  for (const Caches caches : {Caches::kCold, Caches::kHot}) {
    auto* rows = benchmark::RegisterBenchmark(
        (name + (caches == Caches::kCold ? "/cold" : "/hot")).c_str(),
        [=](benchmark::State& state) { run(state, arrays, caches, prepare); });
    sizes(rows, caches);
  }
}

}  // namespace kernkit::bench
