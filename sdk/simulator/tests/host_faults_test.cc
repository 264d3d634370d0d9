// SPDX-License-Identifier: Apache-2.0
// Faults in the host code of an op and their effects. Each fault is tested together with correct
// code.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernkit/simulator/runtime.h"
#include "sanitizers.h"

namespace faulty {

constexpr int kSize = 8;

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
struct Pointers {
  float scale;
  int* x;
};
__global__ void twice_of(Pointers p) { p.x[threadIdx.x] *= 2; }

template <class... Params, class... Arguments>
cudaError_t launch(cudaStream_t stream, void (*kernel)(Params...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = kSize;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace faulty

namespace kernkit::simulator {
namespace {

class CudaHostFaults : public ::testing::Test {
 protected:
  CudaHostFaults() : runtime_(std::vector<CudaDevice>(2)) { runtime_.run_kernels(true); }

  void start(unsigned seed) {
    runtime_.~CudaRuntime();
    new (&runtime_) CudaRuntime(std::vector<CudaDevice>(2));
    runtime_.run_kernels(true);
    runtime_.set_seed(seed);
  }
  static int* memory(int device = 0) {
    int* pointer = nullptr;
    cudaSetDevice(device);
    cudaMalloc(&pointer, faulty::kSize * sizeof(int));
    cudaMemset(pointer, 0, faulty::kSize * sizeof(int));
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    return pointer;
  }
  static cudaStream_t stream(int device = 0) {
    cudaStream_t created = nullptr;
    cudaSetDevice(device);
    cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking);
    cudaSetDevice(0);
    return created;
  }
  std::string fault() { return runtime_.faults().empty() ? "none" : runtime_.faults()[0]; }

  CudaRuntime runtime_;
};

TEST_F(CudaHostFaults, WrongDevice) {
  EXPECT_EQ(faulty::launch(nullptr, faulty::twice, memory(1)), cudaSuccess);
  EXPECT_EQ(
      fault(),
      "faulty::twice: argument 0, counted from 0, is memory of cuda:1, and the kernel runs on "
      "cuda:0");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST_F(CudaHostFaults, WrongDeviceInAStructure) {
  faulty::launch(nullptr, faulty::twice_of, faulty::Pointers{1.0f, memory(1)});
  EXPECT_EQ(
      fault(),
      "faulty::twice_of: argument 0, counted from 0, is memory of cuda:1, and the kernel runs "
      "on cuda:0");
}

TEST_F(CudaHostFaults, MissingGuard) {
  int* x = memory(1);
  cudaStream_t of_device_1 = stream(1);
  EXPECT_EQ(faulty::launch(of_device_1, faulty::twice, x), cudaErrorInvalidResourceHandle);
  cudaSetDevice(1);
  EXPECT_EQ(faulty::launch(of_device_1, faulty::twice, x), cudaSuccess);
  EXPECT_EQ(fault(), "none");
}

// If the kernel is launched on the stream of the caller's copies, every seed gives the correct
// result. On another stream, nothing orders the kernel and the copies, and some seeds give a wrong
// result.
TEST_F(CudaHostFaults, WrongStream) {
  for (const bool is_correct : {true, false}) {
    int wrong = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
      start(seed);
      int* x = memory();
      const cudaStream_t callers = stream();
      int result[faulty::kSize] = {1, 1, 1, 1, 1, 1, 1, 1};
      cudaMemcpyAsync(x, result, sizeof(result), cudaMemcpyHostToDevice, callers);
      faulty::launch(is_correct ? callers : nullptr, faulty::twice, x);
      cudaMemcpyAsync(result, x, sizeof(result), cudaMemcpyDeviceToHost, callers);
      wrong += result[0] != 2 ? 1 : 0;
    }
    EXPECT_EQ(wrong == 0, is_correct) << wrong;
  }
}

TEST_F(CudaHostFaults, LaunchNeverChecked) {
  int* x = memory();
  runtime_.fail("cudaLaunchKernelExC", 1, cudaErrorLaunchOutOfResources);
  (void)faulty::launch(nullptr, faulty::twice, x);  // the fault
  EXPECT_TRUE(runtime_.launches().empty());
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchOutOfResources)
      << "the error of an earlier call must be kept";
}

TEST_F(CudaHostFaults, WaitsOrAllocatesDuringCapture) {
  int* x = memory();
  for (const std::string fault : {"none", "waits", "allocates", "frees"}) {
    const cudaStream_t callers = stream();
    cudaGraph_t graph = nullptr;
    void* more = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(callers, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(faulty::launch(callers, faulty::twice, x), cudaSuccess);
    cudaError_t error = cudaSuccess;
    if (fault == "waits") error = cudaStreamSynchronize(callers);
    if (fault == "allocates") error = cudaMalloc(&more, 4);
    if (fault == "frees") error = cudaFree(x);
    EXPECT_EQ(error, fault == "none" ? cudaSuccess : cudaErrorStreamCaptureUnsupported) << fault;
    EXPECT_EQ(cudaStreamEndCapture(callers, &graph),
              fault == "none" ? cudaSuccess : cudaErrorStreamCaptureInvalidated)
        << fault;
    EXPECT_EQ(graph != nullptr, fault == "none");
  }
}

// A test can check by the recorded calls that a function does not wait for the stream or the
// device.
TEST_F(CudaHostFaults, HiddenSynchronisation) {
  int* x = memory();
  runtime_.clear();
  faulty::launch(nullptr, faulty::twice, x);
  EXPECT_EQ(runtime_.count("cudaStreamSynchronize") + runtime_.count("cudaDeviceSynchronize"), 0u);
  cudaStreamSynchronize(nullptr);
  EXPECT_EQ(runtime_.count("cudaStreamSynchronize"), 1u);
}

// A copy has read or written pageable host memory when the call of the copy returns.
TEST_F(CudaHostFaults, CopiesOfPageableMemory) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    start(seed);
    int* x = memory();
    const cudaStream_t callers = stream();
    int value = 5;
    cudaMemcpyAsync(x, &value, sizeof(value), cudaMemcpyHostToDevice, callers);
    value = 0;
    cudaMemcpyAsync(&value, x, sizeof(value), cudaMemcpyDeviceToHost, callers);
    ASSERT_EQ(value, 5) << "seed " << seed;
  }
}

#if defined(TEST_WITH_ASAN)

class CudaHostFaultsDeathTest : public CudaHostFaults {
 protected:
  // A child of fork() cannot use CUDA, so a death test starts the program again.
  CudaHostFaultsDeathTest() { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(CudaHostFaultsDeathTest, UseAfterStreamOrderedFree) {
  for (const unsigned seed : {0u, 3u}) {
    start(seed);
    int* x = memory();
    const cudaStream_t callers = stream();
    EXPECT_EQ(faulty::launch(callers, faulty::twice, x), cudaSuccess) << "the correct order";
    EXPECT_EQ(cudaFreeAsync(x, callers), cudaSuccess);
    EXPECT_DEATH(
        {
          faulty::launch(callers, faulty::twice, x);
          cudaStreamSynchronize(callers);
        },
        "heap-use-after-free");
  }
}

TEST_F(CudaHostFaultsDeathTest, FreedOnAStreamThatDoesNotWait) {
  EXPECT_DEATH(
      for (unsigned seed = 1; seed <= 40; ++seed) {
        start(seed);
        int* x = memory();
        faulty::launch(stream(), faulty::twice, x);
        cudaFreeAsync(x, stream());
        cudaDeviceSynchronize();
      },
      "in kernel faulty::twice: block \\[0, 0, 0\\]");
}

#endif

}  // namespace
}  // namespace kernkit::simulator
