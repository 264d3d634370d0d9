// SPDX-License-Identifier: Apache-2.0
#include "tvm/ffi/extra/cuda/device_guard.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "kernkit/simulator/runtime.h"

namespace {

namespace ffi = tvm::ffi;
using kernkit::simulator::CudaRuntime;

static_assert(!std::is_copy_constructible_v<ffi::CUDADeviceGuard>, "two would restore twice");

int device_now() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

/// Returns "kind: message" of the tvm::ffi::Error that a call throws.
template <class Call>
std::string ffi_error_of(Call&& call) {
  try {
    call();
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "";
}

TEST(TvmFfiDeviceGuard, RestoresTheCallersDevice) {
  CudaRuntime runtime({{}, {}, {}});
  cudaSetDevice(2);
  {
    ffi::CUDADeviceGuard guard(1);
    EXPECT_EQ(device_now(), 1);
    {
      ffi::CUDADeviceGuard inner(0);
      EXPECT_EQ(device_now(), 0);
    }
    EXPECT_EQ(device_now(), 1);
  }
  EXPECT_EQ(device_now(), 2);
}

TEST(TvmFfiDeviceGuard, RestoresAfterEachKindOfError) {
  CudaRuntime runtime({{}, {}, {}});
  cudaSetDevice(2);
  EXPECT_EQ(ffi_error_of([] {
              ffi::CUDADeviceGuard guard(1);
              TVM_FFI_CHECK(device_now() == 2, ValueError) << "on " << device_now();
            }),
            "ValueError: Check failed: (device_now() == 2) is false: on 1");
  EXPECT_EQ(device_now(), 2);
  EXPECT_THROW(
      {
        ffi::CUDADeviceGuard guard(0);
        throw 1;
      },
      int);
  EXPECT_EQ(device_now(), 2);
  EXPECT_EQ(
      ffi_error_of([] {
        ffi::CUDADeviceGuard guard(0);
        TVM_FFI_CHECK_CUDA_ERROR(cudaErrorMemoryAllocation);
      }),
      "RuntimeError: cudaErrorMemoryAllocation failed: cudaErrorMemoryAllocation: out of memory");
  EXPECT_EQ(device_now(), 2);
}

// A guard that cannot restore the device during unwinding throws nothing. tvm-ffi's guard throws
// from its destructor, which would end the process.
TEST(TvmFfiDeviceGuard, AFailedRestoreHidesNoError) {
  CudaRuntime runtime({{}, {}});
  EXPECT_EQ(ffi_error_of([&] {
              ffi::CUDADeviceGuard guard(1);
              runtime.fail("cudaSetDevice", 1, cudaErrorCudartUnloading);
              TVM_FFI_THROW(ValueError) << "first";
            }),
            "ValueError: first");
}

TEST(TvmFfiDeviceGuard, AnUnknownDeviceThrowsTvmFfisError) {
  CudaRuntime runtime({{}, {}});
  EXPECT_EQ(ffi_error_of([] { ffi::CUDADeviceGuard guard(5); }),
            "RuntimeError: cudaSetDevice(5) failed: cudaErrorInvalidDevice: invalid device "
            "ordinal");
  EXPECT_EQ(device_now(), 0);
}

}  // namespace
