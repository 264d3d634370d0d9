// SPDX-License-Identifier: Apache-2.0
// What every GPU benchmark shares: the device, data, time, and the copy to compare with.
//
// Rows are named <op>/<dtype>/<whose>/<cold or hot>/bytes:<of one array>.
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

/// Why no row can run here, "" where there is a device.
const std::string& no_device();

/// Device memory for the length of a row. RuntimeError when there is not enough left.
class DeviceArray {
 public:
  explicit DeviceArray(int64_t bytes) : bytes_(bytes) {
    KERNKIT_CUDA_CHECK(cudaMalloc(&data_, static_cast<size_t>(bytes)));
  }
  ~DeviceArray() { (void)cuda::succeeded(cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  void* data() const { return data_; }
  /// Repeats the period over the whole array.
  void fill(const std::vector<unsigned char>& period);
  /// Overwrites, so that what wrong() finds was written by the kernel.
  void poison();
  /// Bytes that differ from the repeated period.
  int64_t wrong(const std::vector<unsigned char>& period) const;

 private:
  int64_t bytes_;
  void* data_ = nullptr;
};

/// Bytes of a period: a whole number of every element, and no power of two.
inline constexpr int64_t kPeriod = 16 * 65521;

/// Elements 1, 2, ... 30, 1, ... of T from a place that depends on `seed`: sums and doubles are
/// exact in every dtype, none is zero.
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

/// Cold: 16 times {write twice the second-level cache, event, launch, event}, then one wait; the
/// median. Hot: 64 launches in a graph, replayed; the mean. Seconds of one launch.
enum class Caches { kCold, kHot };
double time_of(const std::function<void(cudaStream_t)>& launch, Caches caches);

/// Bytes read and written per second by the better of cudaMemcpyAsync and a copy kernel on arrays
/// of so many bytes; measured once per process.
double copy_rate(int64_t bytes, Caches caches);

/// Runs one row: reports why the row cannot run, verifies, measures, counts. The op accesses
/// `arrays` arrays of `bytes`. `prepare` is called once, with the row's memory still to be
/// allocated, and returns what is timed; it throws what makes the row invalid.
void run(benchmark::State& state, int arrays, Caches caches,
         const std::function<std::function<void(cudaStream_t)>(int64_t bytes)>& prepare);

/// Bytes per array, 4 KiB to 4 GiB; hot only up to what may fit a cache.
void sizes(benchmark::internal::Benchmark* rows, Caches caches);

/// Registers <name>/cold and <name>/hot.
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
