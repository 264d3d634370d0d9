// SPDX-License-Identifier: Apache-2.0
// Launches use the right device and stream, are rejected beyond the limits of the device, and
// report their own errors. This program also replaces a host and provides the current stream.
#include "kernkit/cuda/launch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace {
thread_local cudaStream_t current_streams[64] = {};
}

extern "C" __attribute__((visibility("default"))) void* TVMFFIEnvGetStream(int32_t type,
                                                                           int32_t id) {
  return type == kDLCUDA && id < 64 ? current_streams[id] : nullptr;
}

namespace kernels {
__global__ void fill(float* out, float value, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}
__global__ void no_arguments() {}
__global__ void counted(float* out) { *out = 1; }  // no other test queries its attributes
}  // namespace kernels

namespace kernkit {
namespace {

using cuda::Launch;
using cuda::LaunchConfig;
using simulator::CudaDevice;
using simulator::CudaFault;
using simulator::CudaLaunch;
using simulator::CudaRuntime;
using testing::error_of;

// A tensor of four floats in CPU memory whose DLTensor names another device.
struct OnDevice {
  explicit OnDevice(int device) {
    dl.device = {kDLCUDA, device};
    dl.dtype = dl_float32;
    dl.ndim = 1;
    dl.shape = &size;
    dl.data = &device_data;
  }
  float* data() { return static_cast<float*>(dl.data); }
  TensorView view(const char* name) const { return {&dl, name}; }
  int64_t size = 4;
  float device_data[4] = {};
  DLTensor dl{};
};

int current_device() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

std::vector<std::string> functions(const CudaRuntime& runtime) {
  std::vector<std::string> names;
  for (const auto& call : runtime.calls()) names.push_back(call.function);
  return names;
}

class CudaLaunchTest : public ::testing::Test {
 protected:
  ~CudaLaunchTest() override {
    for (cudaStream_t& stream : current_streams) stream = nullptr;
  }
  cudaStream_t make_stream(int device) {
    CUDADeviceGuard guard(device);
    cudaStreamCreate(&current_streams[device]);
    return current_streams[device];
  }
  std::string launch_error(const LaunchConfig& config) {
    return error_of([&] { Launch(x.view("x"))(kernels::fill, config, x.data(), 1.0f, 4); });
  }

  CudaRuntime runtime{{CudaDevice(), CudaDevice()}};
  OnDevice x{0};
  OnDevice y{1};
};

TEST_F(CudaLaunchTest, Records) {
  const cudaStream_t stream = make_stream(1);
  {
    Launch launch(y.view("y"));
    EXPECT_EQ(launch.device().device_id, 1);
    EXPECT_EQ(launch.stream(), stream);
    launch(kernels::fill, {{3, 2}, {32, 4}, 16}, y.data(), 1, 4);
  }
  EXPECT_EQ(current_device(), 0);
  const std::vector<CudaLaunch> launches = runtime.launches();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "kernels::fill");
  EXPECT_EQ(launches[0].grid.x, 3u);
  EXPECT_EQ(launches[0].grid.y, 2u);
  EXPECT_EQ(launches[0].grid.z, 1u);
  EXPECT_EQ(launches[0].block.x, 32u);
  EXPECT_EQ(launches[0].block.y, 4u);
  EXPECT_EQ(launches[0].shared_memory, 16u);
  EXPECT_EQ(launches[0].stream, stream);
  EXPECT_EQ(launches[0].device, 1);
  EXPECT_FALSE(launches[0].cooperative || launches[0].overlaps_previous || launches[0].captured);
  // The arguments are converted to the types of the kernel's parameters, as in a call.
  EXPECT_EQ(launches[0].argument<float*>(0), y.data());
  EXPECT_EQ(launches[0].argument<float>(1), 1.0f);
  EXPECT_EQ(launches[0].argument<int64_t>(2), 4);
}

TEST_F(CudaLaunchTest, RuntimeCallsOfALaunch) {
  Launch(x.view("x"))(kernels::fill, {1, 1}, x.data(), 1, 4);  // queries the device's limits once
  Launch(y.view("y"))(kernels::fill, {1, 1}, y.data(), 1, 4);
  runtime.clear();
  Launch(x.view("x"))(kernels::fill, {1, 1}, x.data(), 1, 4);
  EXPECT_EQ(functions(runtime), (std::vector<std::string>{"cudaGetDevice", "cudaLaunchKernelExC"}));
  runtime.clear();
  Launch(y.view("y"))(kernels::fill, {1, 1}, y.data(), 1, 4);
  EXPECT_EQ(functions(runtime), (std::vector<std::string>{"cudaGetDevice", "cudaSetDevice",
                                                          "cudaLaunchKernelExC", "cudaSetDevice"}));
}

TEST_F(CudaLaunchTest, TensorsMustBeOnOneCudaDevice) {
  OnDevice cpu(0);
  cpu.dl.device = {kDLCPU, 0};
  EXPECT_EQ(error_of([&] { Launch(x.view("x"), x.view("z"), y.view("y")); }),
            "ValueError: y: device cuda:1 does not match x (cuda:0)");
  EXPECT_EQ(error_of([&] { Launch(cpu.view("c"), x.view("x")); }),
            "ValueError: c: device cpu is not a CUDA device");
  EXPECT_EQ(error_of([&] { Launch(x.view("x"), cpu.view(nullptr)); }),
            "ValueError: tensor: device cpu does not match x (cuda:0)");
  EXPECT_TRUE(runtime.calls().empty()) << "the rejected launch called the runtime";
}

TEST_F(CudaLaunchTest, ZeroWorkLaunchesNothing) {
  for (const LaunchConfig& config : {LaunchConfig(0, 256), LaunchConfig({3, 0}, 256)}) {
    EXPECT_EQ(launch_error(config), "nothing");
  }
  EXPECT_TRUE(runtime.launches().empty());
}

TEST_F(CudaLaunchTest, GridLimits) {
  EXPECT_EQ(launch_error({INT32_MAX, 1}), "nothing");
  EXPECT_EQ(launch_error({int64_t{INT32_MAX} + 1, 1}),
            "ValueError: launch of kernels::fill: grid [2147483648, 1, 1] is outside [1, 1, 1] to "
            "[2147483647, 65535, 65535] on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({{1, 65535, 65535}, 1}), "nothing");
  EXPECT_EQ(launch_error({{1, 65536}, 1}),
            "ValueError: launch of kernels::fill: grid [1, 65536, 1] is outside [1, 1, 1] to "
            "[2147483647, 65535, 65535] on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({{1, 1, 65536}, 1}),
            "ValueError: launch of kernels::fill: grid [1, 1, 65536] is outside [1, 1, 1] to "
            "[2147483647, 65535, 65535] on cuda:0 (sm_90)");
  // 2^32 + 1 must not be truncated to 32 bits, which would give the valid size 1.
  EXPECT_EQ(launch_error({(int64_t{1} << 32) + 1, 1}),
            "ValueError: launch of kernels::fill: grid [4294967297, 1, 1] is outside [1, 1, 1] to "
            "[2147483647, 65535, 65535] on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({-1, 1}),
            "ValueError: launch of kernels::fill: grid [-1, 1, 1] is outside [1, 1, 1] to "
            "[2147483647, 65535, 65535] on cuda:0 (sm_90)");
  EXPECT_EQ(runtime.launches().size(), 2u);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(CudaLaunchTest, BlockLimits) {
  EXPECT_EQ(launch_error({1, 1024}), "nothing");
  EXPECT_EQ(launch_error({1, 1025}),
            "ValueError: launch of kernels::fill: block [1025, 1, 1] is outside [1, 1, 1] to "
            "[1024, 1024, 64] on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({1, {1, 1, 65}}),
            "ValueError: launch of kernels::fill: block [1, 1, 65] is outside [1, 1, 1] to [1024, "
            "1024, 64] on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({1, {32, 33}}),
            "ValueError: launch of kernels::fill: block [32, 33, 1] has 1056 threads, at most 1024 "
            "fit on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({1, 0}),
            "ValueError: launch of kernels::fill: block [0, 1, 1] is outside [1, 1, 1] to [1024, "
            "1024, 64] on cuda:0 (sm_90)");
}

TEST_F(CudaLaunchTest, SharedMemory) {
  EXPECT_EQ(launch_error({1, 1, 48 * 1024}), "nothing");
  EXPECT_EQ(runtime.count("cudaFuncSetAttribute"), 0u);
  EXPECT_EQ(launch_error({1, 1, 232448}), "nothing");
  EXPECT_EQ(runtime.count("cudaFuncSetAttribute"), 1u);
  EXPECT_EQ(launch_error({1, 1, 232449}),
            "ValueError: launch of kernels::fill: 232449 bytes of dynamic shared memory per block, "
            "the limit is 232448 on cuda:0 (sm_90)");
  EXPECT_EQ(launch_error({1, 1024, 232449}), launch_error({1, 1, 232449})) << "threads fit";
  EXPECT_EQ(launch_error({1, 1, -1}),
            "ValueError: launch of kernels::fill: -1 bytes of dynamic shared memory per block, the "
            "limit is 232448 on cuda:0 (sm_90)");
}

TEST_F(CudaLaunchTest, StaticSharedMemoryIsQueriedOnceForADevice) {
  const auto launch_on = [](OnDevice& at) {
    Launch(at.view("at"))(kernels::counted, {1, 1, 16}, at.data());
  };
  for (int i = 0; i < 3; ++i) launch_on(x);
  EXPECT_EQ(runtime.count("cudaFuncGetAttributes"), 1u);
  for (int i = 0; i < 3; ++i) launch_on(y);
  EXPECT_EQ(runtime.count("cudaFuncGetAttributes"), 2u);
}

TEST_F(CudaLaunchTest, Attributes) {
  Launch launch(x.view("x"));
  launch(kernels::no_arguments, LaunchConfig({8, 2}, 32).with_cluster({4, 2}));
  launch(kernels::no_arguments, LaunchConfig(4, 32).cooperatively().overlapping_previous());
  const std::vector<CudaLaunch> launches = runtime.launches();
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].cluster.x, 4u);
  EXPECT_EQ(launches[0].cluster.y, 2u);
  EXPECT_EQ(launches[0].cluster.z, 1u);
  EXPECT_FALSE(launches[0].cooperative || launches[0].overlaps_previous);
  EXPECT_TRUE(launches[1].cooperative && launches[1].overlaps_previous);
  EXPECT_EQ(launches[1].cluster.x, 1u);

  EXPECT_EQ(
      launch_error(LaunchConfig(6, 32).with_cluster(4)),
      "ValueError: launch of kernels::fill: grid [6, 1, 1] is not a multiple of the cluster [4, "
      "1, 1] on cuda:0 (sm_90)");
  EXPECT_EQ(
      launch_error(LaunchConfig(6, 32).with_cluster(0)),
      "ValueError: launch of kernels::fill: grid [6, 1, 1] is not a multiple of the cluster [0, "
      "1, 1] on cuda:0 (sm_90)");
  // Each dimension is compared with its own limit and with the cluster's size in the same
  // dimension.
  const struct {
    cuda::Extent grid, cluster;
    const char* text;
  } apart[] = {{{4, 3, 2}, {1, 2, 1}, "[4, 3, 2] is not a multiple of the cluster [1, 2, 1]"},
               {{4, 2, 3}, {1, 1, 2}, "[4, 2, 3] is not a multiple of the cluster [1, 1, 2]"},
               {{4, 2, 3}, {1, 0, 1}, "[4, 2, 3] is not a multiple of the cluster [1, 0, 1]"},
               {{4, 2, 3}, {1, 1, 0}, "[4, 2, 3] is not a multiple of the cluster [1, 1, 0]"},
               {{4, 2, 3}, {1, 1, -3}, "[4, 2, 3] is not a multiple of the cluster [1, 1, -3]"}};
  for (const auto& row : apart) {
    EXPECT_EQ(launch_error(LaunchConfig(row.grid, 32).with_cluster(row.cluster)),
              std::string("ValueError: launch of kernels::fill: grid ") + row.text +
                  " on cuda:0 (sm_90)");
  }
  EXPECT_EQ(launch_error(LaunchConfig({4, 2, 2}, 32).with_cluster({1, 1, 2})), "nothing");
  EXPECT_EQ(launch_error(LaunchConfig({4, 2, 2}, 32).with_cluster({1, 2, 1})), "nothing");

  EXPECT_EQ(launch_error(LaunchConfig(100000, 1024).cooperatively()),
            "RuntimeError: cudaLaunchKernelExC(kernels::fill, grid [100000, 1, 1], block [1024, 1, "
            "1]) failed: cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative "
            "launch");
  EXPECT_EQ(launch_error(LaunchConfig(100000, 1024, 16).with_cluster({2, 1, 1}).cooperatively()),
            "RuntimeError: cudaLaunchKernelExC(kernels::fill, grid [100000, 1, 1], block [1024, 1, "
            "1], 16 bytes of shared memory, cluster [2, 1, 1]) failed: "
            "cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative launch");
}

TEST_F(CudaLaunchTest, PropertiesOfThatDevice) {
  CudaRuntime four({{}, {}, {80, 108}, {120, 188, size_t{1} << 20, 101376, {1000, 10, 10}}});
  OnDevice a(2), b(3);
  const cuda::DeviceProperties& ampere = Launch(a.view("a")).properties();
  EXPECT_EQ(ampere.compute_capability, 80);
  EXPECT_EQ(ampere.sm_count, 108);
  EXPECT_EQ(ampere.shared_memory_per_block, 48 * 1024);
  EXPECT_EQ(ampere.max_threads_per_block, 1024);
  const cuda::DeviceProperties& blackwell = Launch(b.view("b")).properties();
  EXPECT_EQ(blackwell.compute_capability, 120);
  EXPECT_EQ(blackwell.sm_count, 188);
  EXPECT_EQ(blackwell.shared_memory_per_block_opt_in, 101376);
  EXPECT_EQ(blackwell.max_grid[0], 1000);
  EXPECT_EQ(blackwell.max_grid[2], 10);
  four.clear();
  (void)Launch(b.view("b")).properties();
  EXPECT_EQ(four.count("cudaDeviceGetAttribute"), 0u) << "kept";
}

TEST_F(CudaLaunchTest, DeviceWithAHighIndex) {
  EXPECT_EQ(error_of([] { (void)cuda::device_properties(128); }),
            "RuntimeError: device cuda:128 is beyond the 128 that kernkit supports");
  EXPECT_EQ(error_of([] { (void)cuda::device_properties(127); }),
            "RuntimeError: cudaDeviceGetAttribute(&value, which, device) failed: "
            "cudaErrorInvalidDevice: invalid device ordinal");
}

TEST_F(CudaLaunchTest, LaunchReportsItsOwnError) {
  runtime.fail("cudaLaunchKernelExC", 1, cudaErrorLaunchOutOfResources);
  EXPECT_EQ(launch_error({2, 3, 5}),
            "RuntimeError: cudaLaunchKernelExC(kernels::fill, grid [2, 1, 1], block [3, 1, 1], 5 "
            "bytes of shared memory) failed: cudaErrorLaunchOutOfResources: too many resources "
            "requested for launch");
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// A launch neither reports nor clears the pending error of an earlier call.
TEST_F(CudaLaunchTest, PendingErrorIsNotBlamedOnTheLaunch) {
  runtime.plant(CudaFault::kPending, cudaErrorInvalidValue);
  EXPECT_EQ(launch_error({1, 1}), "nothing");
  EXPECT_EQ(runtime.launches().size(), 1u);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(CudaLaunchTest, AsynchronousErrorIsNotBlamedOnTheLaunch) {
  runtime.plant(CudaFault::kOnce, cudaErrorMisalignedAddress);
  EXPECT_EQ(launch_error({1, 1}),
            "RuntimeError: cudaLaunchKernelExC(kernels::fill, grid [1, 1, 1], block [1, 1, 1]) "
            "failed: cudaErrorMisalignedAddress: misaligned address; it comes from earlier work on "
            "the device, not from this call; to find the launch, set KERNKIT_SYNC=1");
  EXPECT_EQ(launch_error({1, 1}), "nothing");
}

TEST_F(CudaLaunchTest, NoKernelImage) {
  runtime.fail("cudaLaunchKernelExC", 1, cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(launch_error({1, 1}),
            "RuntimeError: cudaLaunchKernelExC(kernels::fill, grid [1, 1, 1], block [1, 1, 1]) "
            "failed: cudaErrorNoKernelImageForDevice: no kernel image is available for execution "
            "on the device; this library was built for sm_80, sm_90; cuda:0 is sm_90; rebuild with "
            "-DCMAKE_CUDA_ARCHITECTURES=90");
}

// The first launch on a device queries the device's limits, which must not invalidate the capture.
TEST_F(CudaLaunchTest, FirstLaunchUnderCapture) {
  CudaRuntime runtime(std::vector<CudaDevice>(6));
  OnDevice z(5);
  const cudaStream_t stream = make_stream(5);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  {
    Launch launch(z.view("z"));
    EXPECT_TRUE(launch.capturing());
    launch(kernels::fill, {1, 4, 64 * 1024}, z.data(), 7.0f, 4);
  }
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  ASSERT_EQ(runtime.launches().size(), 1u);
  EXPECT_TRUE(runtime.launches()[0].captured);
  EXPECT_FALSE(Launch(z.view("z")).capturing());

  // Launching the graph runs the captured kernel.
  runtime.run_kernels(true);
  cudaGraphExec_t exec = nullptr;
  cudaSetDevice(5);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(z.device_data[3], 0.0f);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(z.device_data[3], 7.0f);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  EXPECT_EQ(runtime.live(), "");
}

TEST_F(CudaLaunchTest, TwoThreadsTwoDevices) {
  const int kRounds = 200;
  std::atomic<int> ready{0};
  cudaStream_t streams[2];
  const auto work = [&](int device, OnDevice& tensor) {
    cudaSetDevice(1 - device);
    streams[device] = make_stream(device);
    ++ready;
    while (ready < 2) std::this_thread::yield();
    for (int i = 0; i < kRounds; ++i) {
      Launch(tensor.view("t"))(kernels::fill, {1, 1}, tensor.data(), 1, 4);
    }
    EXPECT_EQ(current_device(), 1 - device);
  };
  std::thread first([&] { work(0, x); });
  std::thread second([&] { work(1, y); });
  first.join();
  second.join();
  const std::vector<CudaLaunch> launches = runtime.launches();
  ASSERT_EQ(launches.size(), 2u * kRounds);
  for (const CudaLaunch& launch : launches) {
    const int device = launch.argument<float*>(0) == y.data() ? 1 : 0;
    ASSERT_EQ(launch.device, device);
    ASSERT_EQ(launch.stream, streams[device]);
  }
}

// The properties are correct if several threads make the first query of a device at the same time.
TEST_F(CudaLaunchTest, PropertiesFromSeveralThreads) {
  CudaRuntime runtime(std::vector<CudaDevice>(40, CudaDevice{87, 20}));
  std::vector<std::thread> threads;
  std::atomic<int> num_correct{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int device = 10; device < 40; ++device) {
        const cuda::DeviceProperties& properties = cuda::device_properties(device);
        num_correct += properties.compute_capability == 87 && properties.sm_count == 20 &&
                       properties.max_grid[2] > 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_correct, 4 * 30);
}

}  // namespace
}  // namespace kernkit
