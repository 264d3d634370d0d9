// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "kernkit/testing/backends/gpu_clock.h"

namespace kernkit::bench {
namespace {

constexpr int kColdLaunches = 16, kHotLaunches = 64;

cudaStream_t stream() { return testing::gpu_clock().stream(); }

double cold_time_of(const std::function<void(cudaStream_t)>& launch) {
  auto times = testing::gpu_clock().cold_seconds(kColdLaunches, launch);
  const auto median = times.begin() + kColdLaunches / 2;
  std::nth_element(times.begin(), median, times.end());
  return *median;
}

double hot_time_of(const std::function<void(cudaStream_t)>& launch) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
  try {
    for (int i = 0; i < kHotLaunches; ++i) launch(stream());
  } catch (const Error&) {
    // Ends the capture after an error as well, since other rows use the stream.
    (void)cuda::succeeded(cudaStreamEndCapture(stream(), &graph));
    throw;
  }
  KERNKIT_CUDA_CHECK(cudaStreamEndCapture(stream(), &graph));
  KERNKIT_CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  const testing::GpuEvent start, end;
  for (int round = 0; round < 2; ++round) {  // the first round is a warm-up
    start.record(stream());
    KERNKIT_CUDA_CHECK(cudaGraphLaunch(replay, stream()));
    end.record(stream());
  }
  KERNKIT_CUDA_CHECK(cudaStreamSynchronize(stream()));
  (void)cuda::succeeded(cudaGraphExecDestroy(replay));
  (void)cuda::succeeded(cudaGraphDestroy(graph));
  return end.seconds_since(start) / kHotLaunches;
}

__global__ void count_right(int64_t n, const unsigned char* bytes, const unsigned char* period,
                            unsigned long long* correct) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  unsigned long long count = 0;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    if (bytes[i] == period[i % kPeriod]) ++count;
  }
  atomicAdd(correct, count);
}

// Copies 64 bytes per thread and loads all values before the first store. The faster of this copy
// and cudaMemcpyAsync is the reference for elementwise kernels, see copy_rate().
__global__ void __launch_bounds__(256) copy_kernel(int64_t n, const uint4* from, uint4* to) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * 1024 + threadIdx.x;
  uint4 values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i * 256 < n) values[i] = from[first + i * 256];
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i * 256 < n) to[first + i * 256] = values[i];
  }
}

void copy_by_kernel(void* to, const void* from, int64_t bytes, cudaStream_t on) {
  const int64_t n = bytes / 16;
  copy_kernel<<<static_cast<unsigned>((n + 1023) / 1024), 256, 0, on>>>(
      n, static_cast<const uint4*>(from), static_cast<uint4*>(to));
  KERNKIT_CUDA_CHECK(cudaGetLastError());
}
void copy_by_runtime(void* to, const void* from, int64_t bytes, cudaStream_t on) {
  KERNKIT_CUDA_CHECK(
      cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, on));
}

// Returns the `prepare` function of a row that measures a copy.
template <class Copy>
auto prepared(Copy copy) {
  return [copy](int64_t bytes) -> std::function<void(cudaStream_t)> {
    const auto x = std::make_shared<DeviceArray>(bytes), y = std::make_shared<DeviceArray>(bytes);
    const auto values = bytes_of(period_of<int32_t>(1));
    x->fill(values);
    y->poison();
    copy(y->data(), x->data(), bytes, stream());
    KERNKIT_CHECK(y->wrong(values) == 0, RuntimeError) << "the copy is wrong";
    return [=](cudaStream_t on) { copy(y->data(), x->data(), bytes, on); };
  };
}

[[maybe_unused]] const bool registered = [] {
  add_rows("copy/bytes/cudaMemcpyAsync", 2, prepared(copy_by_runtime));
  add_rows("copy/bytes/kernel", 2, prepared(copy_by_kernel));
  return true;
}();

}  // namespace

const std::string& no_device() {
  static const std::string reason = [] {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) return std::string();
    (void)cudaGetLastError();
    if (error == cudaSuccess) error = cudaErrorNoDevice;
    return std::string("no CUDA device: ") + cudaGetErrorName(error) + ": " +
           cudaGetErrorString(error);
  }();
  return reason;
}

void DeviceArray::fill(const std::vector<unsigned char>& period) {
  int64_t written = std::min(bytes_, kPeriod);
  auto* first = static_cast<unsigned char*>(data_);
  KERNKIT_CUDA_CHECK(
      cudaMemcpy(first, period.data(), static_cast<size_t>(written), cudaMemcpyHostToDevice));
  while (written < bytes_) {
    const int64_t count = std::min(written, bytes_ - written);
    KERNKIT_CUDA_CHECK(
        cudaMemcpy(first + written, first, static_cast<size_t>(count), cudaMemcpyDeviceToDevice));
    written += count;
  }
  KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
}

void DeviceArray::poison() {
  KERNKIT_CUDA_CHECK(cudaMemset(data_, 0x7e, static_cast<size_t>(bytes_)));
  KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
}

int64_t DeviceArray::wrong(const std::vector<unsigned char>& period) const {
  KERNKIT_CUDA_CHECK(cudaStreamSynchronize(stream()));
  DeviceArray expected(kPeriod), counter(sizeof(unsigned long long));
  KERNKIT_CUDA_CHECK(cudaMemset(counter.data(), 0, sizeof(unsigned long long)));
  expected.fill(period);
  count_right<<<2048, 256>>>(bytes_, static_cast<const unsigned char*>(data_),
                             static_cast<const unsigned char*>(expected.data()),
                             static_cast<unsigned long long*>(counter.data()));
  KERNKIT_CUDA_CHECK(cudaGetLastError());
  unsigned long long correct = 0;
  KERNKIT_CUDA_CHECK(cudaMemcpy(&correct, counter.data(), sizeof(correct), cudaMemcpyDeviceToHost));
  return bytes_ - static_cast<int64_t>(correct);
}

double time_of(const std::function<void(cudaStream_t)>& launch, Caches caches) {
  return caches == Caches::kCold ? cold_time_of(launch) : hot_time_of(launch);
}

double copy_rate(int64_t bytes, Caches caches) {
  static std::map<std::pair<int64_t, Caches>, double> rates;
  double& rate = rates[{bytes, caches}];
  if (rate == 0) {
    for (const auto& prepare :
         {std::function<std::function<void(cudaStream_t)>(int64_t)>(prepared(copy_by_runtime)),
          {prepared(copy_by_kernel)}}) {
      const auto launch = prepare(bytes);
      for (int round = 0; round < 3; ++round) {
        rate = std::max(rate, 2 * static_cast<double>(bytes) / time_of(launch, caches));
      }
    }
  }
  return rate;
}

void run(benchmark::State& state, int arrays, Caches caches,
         const std::function<std::function<void(cudaStream_t)>(int64_t bytes)>& prepare) {
  const int64_t bytes = state.range(0);
  if (!no_device().empty()) return state.SkipWithError(no_device().c_str());
  try {
    size_t available = 0, total = 0;
    KERNKIT_CUDA_CHECK(cudaMemGetInfo(&available, &total));
    const int64_t needed = arrays * bytes + (int64_t{64} << 20);
    if (static_cast<size_t>(needed) > available) {
      Message text;
      text << "skipped: needs " << needed << " bytes of device memory, " << available
           << " are free";
      return state.SkipWithError(text.c_str());
    }
    const double copy = copy_rate(bytes, caches);
    const auto launch = prepare(bytes);
    for (auto _ : state) state.SetIterationTime(time_of(launch, caches));
    const double moved = static_cast<double>(bytes) * arrays;
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * bytes * arrays);
    state.counters["of_copy"] =
        benchmark::Counter(moved / copy, benchmark::Counter::kIsIterationInvariantRate);
  } catch (const Error& error) {
    (void)cudaGetLastError();
    state.SkipWithError(error.what());
  }
}

void sizes(benchmark::internal::Benchmark* rows, Caches caches) {
  rows->UseManualTime()->Iterations(caches == Caches::kCold ? 8 : 5)->ArgName("bytes");
  rows->Unit(benchmark::kMicrosecond);
  constexpr int64_t kKiB = 1 << 10, kMiB = kKiB << 10;
  for (const int64_t bytes :
       {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB, 4096 * kMiB}) {
    if (caches == Caches::kCold || bytes <= 64 * kMiB) rows->Arg(bytes);
  }
}

}  // namespace kernkit::bench

int main(int argc, char** argv) {
  using kernkit::bench::no_device;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  int runtime = 0, driver = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaDriverGetVersion(&driver);
  benchmark::AddCustomContext("cuda_runtime", std::to_string(runtime));
  benchmark::AddCustomContext("cuda_of_driver", std::to_string(driver));
  cudaDeviceProp properties{};
  if (no_device().empty() && cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
    benchmark::AddCustomContext("device", properties.name);
    benchmark::AddCustomContext("l2_bytes", std::to_string(properties.l2CacheSize));
  } else {
    benchmark::AddCustomContext("skipped", no_device());
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
