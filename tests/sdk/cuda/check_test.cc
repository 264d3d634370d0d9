// SPDX-License-Identifier: Apache-2.0
// Messages of CUDA errors.
#include "kernkit/cuda/check.h"

#include <gtest/gtest.h>

#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using simulator::CudaFault;
using simulator::CudaRuntime;
using testing::error_of;

TEST(CudaCheck, NamesCallErrorAndText) {
  CudaRuntime runtime({{}, {}});
  const int device = 7;
  EXPECT_EQ(error_of([&] { KERNKIT_CUDA_CHECK(cudaSetDevice(device)); }),
            "RuntimeError: cudaSetDevice(device) failed: cudaErrorInvalidDevice: invalid device "
            "ordinal");
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaSetDevice(1)); }), "nothing");
}

TEST(CudaCheck, EvaluatesTheCallOnce) {
  CudaRuntime runtime;
  int device = 7;
  KERNKIT_CUDA_CHECK(cudaGetDevice(&device));
  EXPECT_EQ(runtime.count("cudaGetDevice"), 1u);
  EXPECT_EQ(device, 0);
}

TEST(CudaCheck, ClearsTheLastError) {
  CudaRuntime runtime;
  EXPECT_NE(error_of([] { KERNKIT_CUDA_CHECK(cudaSetDevice(7)); }), "nothing");
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(CudaCheck, ErrorOfEarlierWork) {
  CudaRuntime runtime;
  runtime.plant(CudaFault::kOnce, cudaErrorIllegalAddress);
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaDeviceSynchronize()); }),
            "RuntimeError: cudaDeviceSynchronize() failed: cudaErrorIllegalAddress: an illegal "
            "memory access was encountered; it comes from earlier work on the device, not from "
            "this call; to find the launch, set KERNKIT_SYNC=1");
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaDeviceSynchronize()); }), "nothing");
}

TEST(CudaCheck, LostContext) {
  CudaRuntime runtime;
  runtime.plant(CudaFault::kSticky, cudaErrorIllegalAddress);
  const char* lost =
      "RuntimeError: cudaDeviceSynchronize() failed: cudaErrorIllegalAddress: an illegal memory "
      "access was encountered; it comes from earlier work on the device, not from this call; the "
      "CUDA context is lost: restart the process; to find the launch, set KERNKIT_SYNC=1";
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaDeviceSynchronize()); }), lost);
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaDeviceSynchronize()); }), lost);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(CudaCheck, Driver) {
  CudaRuntime runtime;
  runtime.set_driver_version(12040);
  runtime.fail("cudaDeviceSynchronize", 1, cudaErrorInsufficientDriver);
  EXPECT_EQ(
      error_of([] { KERNKIT_CUDA_CHECK(cudaDeviceSynchronize()); }),
      "RuntimeError: cudaDeviceSynchronize() failed: cudaErrorInsufficientDriver: CUDA "
      "driver version is insufficient for CUDA runtime version; this library was built with CUDA "
      "13.0, and the driver supports CUDA 12.4: install a newer driver, or build with CUDA "
      "12.4 or older");
  runtime.set_driver_version(0);
  runtime.fail("cudaDeviceSynchronize", 1, cudaErrorUnsupportedPtxVersion);
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaDeviceSynchronize()); }),
            "RuntimeError: cudaDeviceSynchronize() failed: cudaErrorUnsupportedPtxVersion: the "
            "provided PTX was compiled with an unsupported toolchain.; this library was built with "
            "CUDA 13.0, and no driver is installed");
}

TEST(CudaCheck, NoKernelImage) {
  CudaRuntime runtime({{}, {120}});
  cudaSetDevice(1);
  EXPECT_EQ(error_of([] { KERNKIT_CUDA_CHECK(cudaErrorNoKernelImageForDevice); }),
            "RuntimeError: cudaErrorNoKernelImageForDevice failed: "
            "cudaErrorNoKernelImageForDevice: no kernel image is available for execution on the "
            "device; this library was built for sm_80, sm_90; cuda:1 is sm_120; rebuild with "
            "-DCMAKE_CUDA_ARCHITECTURES=120");
}

TEST(CudaCheck, SucceededClearsAndThrowsNothing) {
  CudaRuntime runtime;
  EXPECT_TRUE(cuda::succeeded(cudaSetDevice(0)));
  EXPECT_FALSE(cuda::succeeded(cudaSetDevice(7)));
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  static_assert(noexcept(cuda::succeeded(cudaSuccess)), "destructors call it");
}

TEST(CudaCheck, SucceededWhileTheDriverUnloads) {
  CudaRuntime runtime;
  runtime.fail("cudaFree", 1, cudaErrorCudartUnloading);
  EXPECT_TRUE(cuda::succeeded(cudaFree(nullptr)));
  runtime.fail("cudaFree", 1, cudaErrorContextIsDestroyed);
  EXPECT_TRUE(cuda::succeeded(cudaFree(nullptr)));
}

}  // namespace
}  // namespace kernkit
