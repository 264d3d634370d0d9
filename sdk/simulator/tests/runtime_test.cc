// SPDX-License-Identifier: Apache-2.0
// The simulator's runtime rejects calls that a device would reject.
#include "kernkit/simulator/runtime.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kernels {
struct Pair {
  int a, b;
};
__global__ void count(int* threads, Pair) { *threads += 1; }
template <int>
__global__ void queried(float*, int) {}
__global__ void by_address(int* x) { *x *= 2; }
__global__ void mark(int* ran) { ran[blockIdx.x] = 1; }
__global__ void store_block_index(int* out, int64_t) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1;
}
}  // namespace kernels

namespace kernkit::simulator {
namespace {

cudaError_t launch(dim3 grid, dim3 block, int* out, size_t shared_memory = 0,
                   cudaStream_t stream = nullptr) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_memory;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernels::store_block_index, out, 0);
}

TEST(CudaRuntime, RunsEveryThreadOfEveryBlockOnce) {
  CudaRuntime runtime;
  int out[4 * 3 * 2 * 5 * 2 * 2] = {};
  EXPECT_EQ(launch({4, 3, 2}, {5, 2, 2}, out), cudaSuccess);
  EXPECT_EQ(out[0], 0) << "the launch is recorded and does not run";
  runtime.run_kernels(true);
  EXPECT_EQ(launch({4, 3, 2}, {5, 2, 2}, out), cudaSuccess);
  for (const int times : out) ASSERT_EQ(times, 1);
}

TEST(CudaRuntime, SamplesBlocksOfLargeGrids) {
  for (const unsigned seed : {0u, 1u}) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    runtime.set_seed(seed);
    runtime.sample_blocks(1000, 18);
    for (const unsigned grid : {1000u, 80001u}) {
      std::vector<int> ran(grid);
      cudaLaunchConfig_t config{};
      config.gridDim = grid;
      config.blockDim = 1;
      ASSERT_EQ(cudaLaunchKernelEx(&config, kernels::mark, ran.data()), cudaSuccess);
      cudaDeviceSynchronize();
      if (grid == 1000) {
        EXPECT_EQ(std::count(ran.begin(), ran.end(), 1), 1000);
        continue;
      }
      EXPECT_EQ(std::count(ran.begin(), ran.end(), 1), 18);
      for (const size_t block : {0, 1, 9999, 10000, 40000, 69999, 70000, 79999, 80000}) {
        EXPECT_EQ(ran[block], 1) << block;
      }
    }
  }
}

TEST(CudaRuntime, LargeAllocationsExistWhereTheyAreTouched) {
  CudaDevice device;
  device.memory = size_t{1} << 40;
  CudaRuntime runtime({device});
  runtime.run_kernels(true);
  const size_t count = size_t{1} << 37;  // elements
  int* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, count * sizeof(int)), cudaSuccess);
  int value = 7, copy = 0;
  EXPECT_EQ(cudaMemcpy(memory + count - 1, &value, sizeof(int), cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&copy, memory + count - 1, sizeof(int), cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(copy, 7);
  value = 8;
  EXPECT_EQ(cudaMemcpy(memory, &value, sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&copy, memory, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(copy, 8);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(runtime.live(), "");
}

TEST(CudaRuntime, RecordsCallsAndArguments) {
  CudaRuntime runtime({{}, {}});
  int threads = 0;
  cudaSetDevice(1);
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(2);
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernels::count, &threads, kernels::Pair{3, 4}),
            cudaSuccess);
  const CudaLaunch launch = runtime.launches().at(0);
  EXPECT_EQ(launch.kernel, "kernels::count");
  EXPECT_EQ(launch.device, 1);
  EXPECT_EQ(launch.argument<int*>(0), &threads);
  EXPECT_EQ(launch.argument<kernels::Pair>(1).b, 4);
  EXPECT_THROW((void)launch.argument<char>(0), std::out_of_range);
  EXPECT_THROW((void)launch.argument<int>(2), std::out_of_range);
  const std::vector<CudaCall> calls = runtime.calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].function, "cudaSetDevice");
  EXPECT_EQ(calls[0].device, 0);
  EXPECT_EQ(calls[1].device, 1);
  EXPECT_EQ(runtime.count("cudaLaunchKernelExC"), 1u);
}

TEST(CudaRuntime, RejectsLaunchesThatNoDeviceSupports) {
  CudaRuntime runtime({{}, {}});
  int out = 0;
  EXPECT_EQ(launch({0}, {1}, &out), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(launch({1, 65536}, {1}, &out), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1}, {1025}, &out), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1}, {64, 32}, &out), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({1}, {1}, &out, 48 * 1024 + 1), cudaErrorInvalidValue)
      << "the kernel has no opt-in for more than 48 KiB";
  const auto* kernel = reinterpret_cast<const void*>(kernels::store_block_index);
  const auto opt_in = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaFuncSetAttribute(kernel, opt_in, 232449), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, opt_in, 65536), cudaSuccess);
  EXPECT_EQ(launch({1}, {1}, &out, 65536), cudaSuccess);
  void* none[] = {nullptr};
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(&out), dim3(1), dim3(1), none, 0, nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(runtime.launches().size(), 1u);
}

TEST(CudaRuntime, AnswersAboutAKernelBeforeItsFirstLaunch) {
  CudaRuntime runtime;
  cudaFuncAttributes attributes{};
  int blocks = 0, min_grid = 0, block = 0;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernels::queried<1>), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 48 * 1024);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels::queried<2>, 256, 0),
            cudaSuccess);
  EXPECT_EQ(blocks, 8) << "a multiprocessor has 2048 threads";
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                &blocks, kernels::queried<3>, 128, 100 * 1024, cudaOccupancyDefault),
            cudaSuccess);
  EXPECT_EQ(blocks, 2) << "228 KiB of shared memory, of which 1 KiB per block is reserved";
  EXPECT_EQ(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels::queried<2>, 128, 113 * 1024),
      cudaSuccess);
  EXPECT_EQ(blocks, 2) << "two blocks use all shared memory";
  int shared = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0),
            cudaSuccess);
  EXPECT_EQ(shared, 228 * 1024);
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, kernels::queried<4>),
            cudaSuccess);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(min_grid, 2 * 132);
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, kernels::queried<4>, 0, 100),
            cudaSuccess);
  EXPECT_EQ(block, 64) << "32 blocks are resident";
  EXPECT_EQ(min_grid, 32 * 132);
  const auto per_thread = [](int threads) { return static_cast<size_t>(threads) * 256; };
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&min_grid, &block, kernels::queried<5>,
                                                           per_thread),
            cudaSuccess);
  EXPECT_EQ(block, 896) << "one block of 224 KiB is resident";
  EXPECT_EQ(min_grid, 132);
  size_t shared_memory = 0;
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&shared_memory, kernels::queried<6>, 2, 256),
            cudaSuccess);
  EXPECT_EQ(shared_memory, 113u * 1024);
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&shared_memory, kernels::queried<6>, 3, 1024),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels::queried<7>)),
            cudaSuccess);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, static_cast<const void*>(&blocks)),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncSetAttribute(static_cast<void*>(&blocks),
                                 cudaFuncAttributePreferredSharedMemoryCarveout, 0),
            cudaErrorInvalidDeviceFunction);
}

TEST(CudaRuntime, LaunchesARegisteredKernelByItsAddress) {
  CudaRuntime runtime;
  runtime.run_kernels(true);
  int x = 1;
  int* argument = &x;
  void* arguments[] = {&argument};
  auto* address = reinterpret_cast<void*>(kernels::by_address);
  EXPECT_EQ(cudaFuncSetAttribute(address, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(address, dim3(1), dim3(1), arguments, 65536),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(x, 1);
  EXPECT_EQ(runtime.launches().size(), 0u);
  EXPECT_EQ(
      runtime.faults(),
      std::vector<std::string>{
          "cudaLaunchKernel(): func: the address of kernels::by_address without argument types is "
          "not supported: pass the kernel itself, without a cast to void*"});

  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernels::by_address), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 65536);
  EXPECT_EQ(cudaLaunchKernel(address, dim3(1), dim3(1), arguments, 65536), cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(kernels::by_address, 1, 1, arguments), cudaSuccess);
  EXPECT_EQ(x, 4);
  EXPECT_TRUE(runtime.launches().at(1).cooperative);
}

TEST(CudaRuntime, RejectsStreamsOfOtherDevices) {
  CudaRuntime runtime({{}, {}});
  int out = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaSetDevice(1);
  EXPECT_EQ(launch({1}, {1}, &out, 0, stream), cudaErrorInvalidResourceHandle);
  cudaSetDevice(0);
  EXPECT_EQ(launch({1}, {1}, &out, 0, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(launch({1}, {1}, &out, 0, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
}

TEST(CudaRuntime, FailsTheSelectedCall) {
  CudaRuntime runtime;
  int device = 7;
  runtime.fail("cudaGetDevice", 2, cudaErrorUnknown);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  device = 7;
  EXPECT_EQ(cudaGetDevice(&device), cudaErrorUnknown);
  EXPECT_EQ(device, 7) << "a failing call has no effect";
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  runtime.fail("", 2, cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(CudaRuntime, Faults) {
  CudaRuntime runtime({{}, {}});
  runtime.plant(CudaFault::kPending, cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  runtime.plant(CudaFault::kOnce, cudaErrorIllegalAddress, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "the error belongs to device 1";
  cudaSetDevice(1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  runtime.plant(CudaFault::kSticky, cudaErrorAssert, 1);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorAssert);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess) << "cudaGetDevice() does not reach the device";
}

TEST(CudaRuntime, Memory) {
  CudaRuntime runtime({CudaDevice{90, 132, 1000}, CudaDevice()});
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1001), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMallocAsync(&memory, 1001, nullptr), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(&memory, 600), cudaSuccess);
  size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 400u);
  EXPECT_EQ(total, 1000u);
  EXPECT_EQ(runtime.used_memory(0), 600u);
  EXPECT_EQ(runtime.live(), "1 allocation");

  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(memory) + 599), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, static_cast<char*>(memory) + 599);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(memory) + 600), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, &free), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);

  int value = 5;
  EXPECT_EQ(cudaMemcpy(memory, &value, sizeof(value), cudaMemcpyHostToDevice), cudaSuccess);
  value = 0;
  EXPECT_EQ(cudaMemcpyAsync(&value, memory, sizeof(value), cudaMemcpyDefault, nullptr),
            cudaSuccess);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(cudaFreeHost(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue) << "twice";
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(&memory, 5000), cudaSuccess) << "memory of the host does not count";
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.hostPointer, memory);
  EXPECT_EQ(cudaFreeHost(memory), cudaSuccess);
  EXPECT_EQ(runtime.live(), "");
  EXPECT_EQ(runtime.used_memory(0), 0u);
}

TEST(CudaRuntime, CaptureForbidsWaitingAndAllocating) {
  CudaRuntime runtime;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  void* memory = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const auto capture = [&](cudaStreamCaptureMode mode, auto&& call) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
    const cudaError_t error = call();
    const bool ended = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
    EXPECT_EQ(ended, error == cudaSuccess);
    EXPECT_TRUE(!ended || cudaGraphDestroy(graph) == cudaSuccess);
    return error;
  };
  const auto global = cudaStreamCaptureModeGlobal;
  EXPECT_EQ(capture(global, [] { return cudaDeviceSynchronize(); }),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(capture(global, [&] { return cudaMalloc(&memory, 1); }),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(capture(global, [&] { return cudaStreamSynchronize(stream); }),
            cudaErrorStreamCaptureUnsupported);
  int out = 0;
  EXPECT_EQ(capture(global, [&] { return launch({1}, {1}, &out, 0, stream); }), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, global), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(runtime.live(), "1 stream");
}

TEST(CudaRuntime, EventsAndLeaks) {
  CudaRuntime runtime;
  cudaEvent_t start = nullptr, end = nullptr, plain = nullptr;
  EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
  EXPECT_EQ(cudaEventCreate(&end), cudaSuccess);
  EXPECT_EQ(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(end, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(plain, nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, plain), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(runtime.live(), "3 events");
  { CudaRuntime anew; }
  EXPECT_EQ(runtime.live(), "");
}

TEST(CudaRuntime, StartsAnewInEveryThread) {
  CudaRuntime first({{}, {}, {}});
  cudaSetDevice(2);
  cudaSetDevice(9);
  CudaRuntime second({{}, {}, {}});
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(second.calls().size(), 1u);
}

TEST(CudaRuntime, NoDevices) {
  CudaRuntime runtime(std::vector<CudaDevice>{});
  int count = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaGetDevice(&count), cudaErrorNoDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNoDevice);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorNoDevice), "cudaErrorNoDevice");
}

// Thread-local objects are destroyed in reverse order: an object that a thread created before the
// thread's first CUDA call is destroyed after the runtime's thread-local objects.
TEST(CudaRuntime, AnObjectThatAThreadDestroysLastCanFreeMemory) {
  struct Owner {
    void* memory = nullptr;
    cudaError_t* freed = nullptr;
    ~Owner() {
      if (freed != nullptr) *freed = cudaFree(memory);
    }
  };
  CudaRuntime runtime;
  cudaError_t freed = cudaErrorUnknown;
  std::thread([&] {
    static thread_local Owner owner;
    owner.freed = &freed;
    ASSERT_EQ(cudaMalloc(&owner.memory, 16), cudaSuccess);
  }).join();
  EXPECT_EQ(freed, cudaSuccess);
}

}  // namespace
}  // namespace kernkit::simulator
