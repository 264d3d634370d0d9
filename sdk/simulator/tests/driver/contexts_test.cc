// SPDX-License-Identifier: Apache-2.0
// Initialisation, contexts and their effect on the runtime's current device. Source of the rules:
// cuda.h of CUDA 13.0 at the functions' names.
#include <thread>

#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}
int device_of_runtime() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

using DriverContexts = Driver;

TEST_F(DriverContexts, FunctionsNeedInitialisation) {
  int count = 0;
  CUdeviceptr address = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  int version = 0;
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, CUDART_VERSION);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(DriverContexts, TheRuntimeInitialisesAndUsesThePrimaryContext) {
  void* memory = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&memory, 4), cudaSuccess);
  CUcontext primary = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, 1), CUDA_SUCCESS);
  EXPECT_EQ(current(), primary);
  EXPECT_EQ(cuMemFree(reinterpret_cast<CUdeviceptr>(memory)), CUDA_SUCCESS);
}

TEST_F(DriverContexts, AContextSetsTheDeviceOfTheRuntime) {
  const CUcontext first = start();
  CUcontext second = nullptr;
  ASSERT_EQ(cuCtxCreate(&second, nullptr, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(current(), second);
  EXPECT_EQ(device_of_runtime(), 1);
  CUcontext popped = nullptr;
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, second);
  EXPECT_EQ(current(), first);
  EXPECT_EQ(device_of_runtime(), 0);
  EXPECT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  // cudaSetDevice() replaces the top of the stack by a primary context.
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(current(), first);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(current(), first);  // the next context of the stack
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(current(), nullptr);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
}

TEST_F(DriverContexts, EachThreadHasItsOwnStack) {
  const CUcontext primary = start();
  std::thread([&] {
    EXPECT_EQ(current(), nullptr);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(current(), nullptr);
}

TEST_F(DriverContexts, ADestroyedContextReleasesItsObjects) {
  start();
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr address = 0;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&address, 1024), CUDA_SUCCESS);
  CUcontext owner = nullptr;
  EXPECT_EQ(cuStreamGetCtx(stream, &owner), CUDA_SUCCESS);
  EXPECT_EQ(owner, context);
  EXPECT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address), CUDA_SUCCESS);
  EXPECT_EQ(owner, context);
  EXPECT_EQ(runtime().live(), "1 allocation, 1 stream, 1 event");

  std::thread([&] {  // the context stays current in this thread
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  })
      .join();
  EXPECT_EQ(runtime().live(), "");
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorContextIsDestroyed);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_SUCCESS);
}

TEST_F(DriverContexts, APrimaryContextIsActiveWhileItIsRetained) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  unsigned flags = 7;
  int active = 7;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxSetFlags(1, CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_YIELD});
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 2), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace kernkit::simulator
