// SPDX-License-Identifier: Apache-2.0
// GPU and pinned memory, on a stand-in for the CUDA runtime: this program links none and defines
// the functions that the allocators call.
#include "kernkit/cuda/allocator.h"

#include <gtest/gtest.h>

#include <string>

#include "host_stub.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"

namespace {

struct Runtime {
  int device = 0;
  cudaError_t fails = cudaSuccess;  // what the calls that allocate and free return
  bool unloads = false;             // the process ends: everything fails
  cudaError_t last = cudaSuccess;
  std::string calls;

  cudaError_t answer(cudaError_t error) {
    if (unloads) error = cudaErrorCudartUnloading;
    if (error != cudaSuccess) last = error;
    return error;
  }
  cudaError_t allocate(const char* call, void** out, size_t size) {
    calls += std::string(call) + "(" + std::to_string(size) + ")@" + std::to_string(device) + " ";
    if (fails == cudaSuccess) *out = std::malloc(size);
    return answer(fails);
  }
  cudaError_t release(const char* call, void* memory) {
    calls += std::string(call) + "@" + std::to_string(device) + " ";
    std::free(memory);
    return answer(fails);
  }
};
Runtime runtime;

}  // namespace

extern "C" {
cudaError_t cudaGetDevice(int* device) {
  *device = runtime.device;
  return runtime.answer(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  if (!runtime.unloads) runtime.device = device;
  return runtime.answer(cudaSuccess);
}
cudaError_t cudaMalloc(void** out, size_t size) { return runtime.allocate("malloc", out, size); }
cudaError_t cudaFree(void* memory) { return runtime.release("free", memory); }
cudaError_t cudaHostAlloc(void** out, size_t size, unsigned) {
  return runtime.allocate("host_alloc", out, size);
}
cudaError_t cudaFreeHost(void* memory) { return runtime.release("free_host", memory); }
cudaError_t cudaGetLastError() {
  const cudaError_t last = runtime.last;
  runtime.last = cudaSuccess;
  return last;
}
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorName"; }
const char* cudaGetErrorString(cudaError_t) { return "text"; }
}

namespace kernkit {
namespace {

using testing::error_of;

constexpr DLDevice kGpu3 = {kDLCUDA, 3};
constexpr DLDevice kPinned = {kDLCUDAHost, 0};

class CudaAllocator : public ::testing::Test {
 protected:
  CudaAllocator() { runtime = Runtime(); }
  ~CudaAllocator() override {
    EXPECT_EQ(runtime.device, 0) << "another device is current afterwards";
    EXPECT_EQ(runtime.last, cudaSuccess) << "an error was left for someone else";
    EXPECT_EQ(host_stub::host.tensors, 0);
  }
};

TEST_F(CudaAllocator, OnTheTensorsDevice) {
  {
    const Tensor x = Tensor::FromNDAlloc(CUDANDAlloc(), {4, 8}, dl_float16, kGpu3);
    EXPECT_EQ(x.device(), kGpu3);
    EXPECT_NE(x.data_ptr(), nullptr);
    EXPECT_EQ(runtime.device, 0);
  }
  EXPECT_EQ(runtime.calls, "malloc(64)@3 free@3 ");
}

TEST_F(CudaAllocator, Pinned) {
  { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {5}, {17, 4, 1}, kPinned); }
  { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {5}, dl_int8, {kDLCPU, 0}); }
  EXPECT_EQ(runtime.calls, "host_alloc(3)@0 free_host@0 host_alloc(5)@0 free_host@0 ");
}

TEST_F(CudaAllocator, EmptyTensorNeedsNothing) {
  Tensor::FromNDAlloc(CUDANDAlloc(), {4, 0}, dl_float32, kGpu3);
  Tensor::FromNDAlloc(CUDAHostNDAlloc(), {0}, dl_float32, kPinned);
  EXPECT_EQ(runtime.calls, "");
}

TEST_F(CudaAllocator, OutOfMemory) {
  runtime.fails = cudaErrorMemoryAllocation;
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(CUDANDAlloc(), {1024}, dl_float32, kGpu3); }),
            "MemoryError: cudaMalloc cannot allocate 4096 bytes on cuda:3");
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {8}, dl_float32, kPinned); }),
            "MemoryError: cudaHostAlloc cannot allocate 32 bytes on cuda_host:0");
}

TEST_F(CudaAllocator, OtherErrors) {
  runtime.fails = cudaErrorIllegalAddress;
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(CUDANDAlloc(), {1024}, dl_float32, kGpu3); }),
            "RuntimeError: cudaMalloc failed: cudaErrorName: text");
  EXPECT_EQ(error_of([] {
              Tensor::FromNDAlloc(CUDANDAlloc(), {8}, dl_int8, {kDLCPU, 0});
            }),
            "ValueError: CUDANDAlloc: device cpu is not a CUDA device");
  EXPECT_EQ(error_of([] { Tensor::FromNDAlloc(CUDAHostNDAlloc(), {8}, dl_int8, kGpu3); }),
            "ValueError: CUDAHostNDAlloc: device cuda:3 is not host memory");
}

// Freeing runs in destructors, also while the process ends: an error there must go nowhere.
TEST_F(CudaAllocator, FreeingIsSilent) {
  for (const bool unloads : {false, true}) {
    Tensor x = Tensor::FromNDAlloc(CUDANDAlloc(), {4}, dl_float32, kGpu3);
    Tensor pinned = Tensor::FromNDAlloc(CUDAHostNDAlloc(), {4}, dl_float32, kPinned);
    runtime.fails = cudaErrorIllegalAddress;
    runtime.unloads = unloads;
    x = pinned = Tensor();
    runtime.fails = cudaSuccess;
    runtime.unloads = false;
  }
}

}  // namespace
}  // namespace kernkit
