// SPDX-License-Identifier: Apache-2.0
// Tests of the allocators of GPU memory and of pinned memory, in the simulator.
#include "kernkit/cuda/allocator.h"

#include <gtest/gtest.h>

#include <string>

#include "host_stub.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::error_of;

constexpr DLDevice kGpu3 = {kDLCUDA, 3};
constexpr DLDevice kPinned = {kDLCUDAHost, 0};

class CudaAllocator : public ::testing::Test {
 protected:
  ~CudaAllocator() override {
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0) << "the allocator did not restore the current device";
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "the allocator left a pending error";
    EXPECT_EQ(host_stub::host.tensors, 0);
  }
  /// Returns the calls that allocate or free memory, each with the device that was current, as text
  /// such as "cudaMalloc@3 ".
  std::string calls() const {
    std::string text;
    for (const simulator::CudaCall& call : runtime.calls()) {
      const bool is_memory = call.function.find("Malloc") != std::string::npos ||
                             call.function.find("Alloc") != std::string::npos ||
                             call.function.find("Free") != std::string::npos;
      if (is_memory) text += call.function + "@" + std::to_string(call.device) + " ";
    }
    return text;
  }

  simulator::CudaRuntime runtime{{{}, {}, {}, {}}};
};

TEST_F(CudaAllocator, OnTheTensorsDevice) {
  {
    const Tensor x = Tensor::FromNDAlloc(CUDANDAlloc(), {4, 8}, dl_float16, kGpu3);
    EXPECT_EQ(x.device(), kGpu3);
    EXPECT_NE(x.data_ptr(), nullptr);
    EXPECT_EQ(runtime.used_memory(3), 64u);
  }
  EXPECT_EQ(calls(), "cudaMalloc@3 cudaFree@3 ");
  EXPECT_EQ(runtime.live(), "");
}

TEST_F(CudaAllocator, Pinned) {
  { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {5}, {17, 4, 1}, kPinned); }
  { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {5}, dl_int8, {kDLCPU, 0}); }
  EXPECT_EQ(calls(), "cudaHostAlloc@0 cudaFreeHost@0 cudaHostAlloc@0 cudaFreeHost@0 ");
  EXPECT_EQ(runtime.live(), "");
}

TEST_F(CudaAllocator, EmptyTensorNeedsNothing) {
  Tensor::FromNDAlloc(CUDANDAlloc(), {4, 0}, dl_float32, kGpu3);
  Tensor::FromNDAlloc(CUDAHostNDAlloc(), {0}, dl_float32, kPinned);
  EXPECT_EQ(runtime.calls().size(), 0u);
}

TEST_F(CudaAllocator, OutOfMemory) {
  EXPECT_EQ(error_of([] {
              Tensor::FromNDAlloc(CUDANDAlloc(), {1 << 28, 8}, dl_float32, kGpu3);
            }),
            "MemoryError: cudaMalloc cannot allocate 8589934592 bytes on cuda:3");
  runtime.fail("cudaHostAlloc", 1, cudaErrorMemoryAllocation);
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {8}, dl_float32, kPinned); }),
            "MemoryError: cudaHostAlloc cannot allocate 32 bytes on cuda_host:0");
  EXPECT_EQ(runtime.live(), "");
}

TEST_F(CudaAllocator, OtherErrors) {
  runtime.fail("cudaMalloc", 1, cudaErrorNotSupported);
  EXPECT_EQ(
      error_of([] { Tensor::FromNDAlloc(CUDANDAlloc(), {1024}, dl_float32, kGpu3); }).substr(0, 55),
      "RuntimeError: cudaMalloc failed: cudaErrorNotSupported:");
  EXPECT_EQ(error_of([] {
              Tensor::FromNDAlloc(CUDANDAlloc(), {8}, dl_int8, {kDLCPU, 0});
            }),
            "ValueError: CUDANDAlloc: device cpu is not a CUDA device");
  EXPECT_EQ(
      error_of([] { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {8}, dl_int8, kGpu3); }),
      "ValueError: CUDAHostNDAlloc: device cuda:3 is not supported; expected cpu or cuda_host");
}

// Destructors that free memory throw nothing and clear the errors of the failed calls, even at the
// end of the process, when every call fails.
TEST_F(CudaAllocator, FreeingIsSilent) {
  for (const cudaError_t error : {cudaErrorIllegalAddress, cudaErrorCudartUnloading}) {
    Tensor x = Tensor::FromNDAlloc(CUDANDAlloc(), {4}, dl_float32, kGpu3);
    Tensor pinned = Tensor::FromNDAlloc(CUDAHostNDAlloc(), {4}, dl_float32, kPinned);
    runtime.clear();
    runtime.fail("cudaFree", 1, error);
    runtime.fail("cudaFreeHost", 1, error);
    if (error == cudaErrorCudartUnloading) runtime.fail("cudaSetDevice", 1, error);
    x = pinned = Tensor();
    EXPECT_EQ(runtime.count("cudaFree") + runtime.count("cudaFreeHost"), 2u);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    // After the driver was unloaded, no further function is called.
    if (error == cudaErrorCudartUnloading) (void)cudaGetLastError();
  }
}

}  // namespace
}  // namespace kernkit
