// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/device_guard.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using simulator::CudaRuntime;
using testing::error_of;

static_assert(!std::is_copy_constructible_v<CUDADeviceGuard>,
              "a copy would restore the device a second time");
static_assert(!std::is_copy_assignable_v<CUDADeviceGuard>,
              "a copy would restore the device a second time");
static_assert(std::is_nothrow_destructible_v<CUDADeviceGuard>,
              "the destructor runs during stack unwinding");

int current() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

TEST(CudaDeviceGuard, Restores) {
  CudaRuntime runtime({{}, {}, {}});
  cudaSetDevice(2);
  {
    CUDADeviceGuard guard(1);
    EXPECT_EQ(current(), 1);
    {
      CUDADeviceGuard inner(0);
      EXPECT_EQ(current(), 0);
    }
    EXPECT_EQ(current(), 1);
  }
  EXPECT_EQ(current(), 2);
}

TEST(CudaDeviceGuard, RestoresOnThrow) {
  CudaRuntime runtime({{}, {}});
  EXPECT_EQ(error_of([] {
              CUDADeviceGuard guard(1);
              KERNKIT_THROW(ValueError) << "no";
            }),
            "ValueError: no");
  EXPECT_EQ(current(), 0);
}

TEST(CudaDeviceGuard, SetsNothingWhenTheDeviceIsCurrent) {
  CudaRuntime runtime({{}, {}});
  { CUDADeviceGuard guard(0); }
  EXPECT_EQ(runtime.count("cudaGetDevice"), 1u);
  EXPECT_EQ(runtime.count("cudaSetDevice"), 0u);
}

TEST(CudaDeviceGuard, UnknownDevice) {
  CudaRuntime runtime({{}, {}});
  EXPECT_EQ(error_of([] { CUDADeviceGuard guard(5); }),
            "RuntimeError: cudaSetDevice(5) failed: cudaErrorInvalidDevice: invalid device "
            "ordinal");
  EXPECT_EQ(current(), 0);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(CudaDeviceGuard, NoDevice) {
  CudaRuntime runtime(std::vector<simulator::CudaDevice>{});
  EXPECT_EQ(error_of([] { CUDADeviceGuard guard(0); }),
            "RuntimeError: cudaGetDevice(&previous_) failed: cudaErrorNoDevice: no CUDA-capable "
            "device is detected");
}

// The destructor does not throw if cudaSetDevice() fails: an exception during unwinding would end
// the process.
TEST(CudaDeviceGuard, DestructorNeverThrows) {
  CudaRuntime runtime({{}, {}});
  EXPECT_EQ(error_of([&] {
              CUDADeviceGuard guard(1);
              runtime.fail("cudaSetDevice", 1, cudaErrorCudartUnloading);
              KERNKIT_THROW(ValueError) << "first";
            }),
            "ValueError: first");
  {
    CUDADeviceGuard guard(0);
    runtime.fail("cudaSetDevice", 1, cudaErrorLaunchFailure);
  }
  EXPECT_EQ(runtime.count("cudaSetDevice"), 4u);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "the guard must clear the error";
}

}  // namespace
}  // namespace kernkit
