// SPDX-License-Identifier: Apache-2.0
// The host of a test's program: an op that makes tensors gets them, on the CPU and on devices that
// are not there.
#include "kernkit/testing/host.h"

#include <gtest/gtest.h>

#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"
#if defined(KERNKIT_WITH_CUDA)
#include "kernkit/testing/cuda_runtime.h"
#endif

namespace kernkit {
namespace {

TEST(TestingHost, AllocatesOnTheCpu) {
  const Tensor tensor = alloc_tensor({2, 3}, dl_float32, {kDLCPU, 0});
  static_cast<float*>(tensor.data_ptr())[5] = 1;
  EXPECT_EQ(tensor.numel(), 6);
}

#if defined(KERNKIT_WITH_CUDA)

TEST(TestingHost, AllocatesOnTheDeviceThatIsAskedFor) {
  testing::CudaRuntime runtime(std::vector<testing::CudaDevice>(2));
  {
    const Tensor tensor = alloc_tensor({2, 3}, dl_float32, {kDLCUDA, 1});
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, tensor.data_ptr()), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 1);
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0);
  }
  EXPECT_EQ(runtime.live(), "");
}

#else

TEST(TestingHost, RefusesAGpuWithoutCuda) {
  const std::string error = testing::error_of([] {
    alloc_tensor({2, 3}, dl_float32, {kDLCUDA, 1});
  });
  EXPECT_EQ(
      error,
      "ValueError: cannot allocate float32 [2, 3] on cuda:1: CPUNDAlloc: device cuda:1 is not "
      "the CPU");
}

#endif

}  // namespace
}  // namespace kernkit
