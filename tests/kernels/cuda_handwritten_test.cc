// SPDX-License-Identifier: Apache-2.0
// Tests a kernel that is launched by <<<>>>, with a device guard and get_cuda_stream(). The kernel
// is compiled by nvcc and run by the simulator.
#include <gtest/gtest.h>

#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

void clamp(kernkit::TensorView x);

namespace {
cudaStream_t host_stream = nullptr;
}
extern "C" __attribute__((visibility("default"))) void* TVMFFIEnvGetStream(int32_t, int32_t) {
  return host_stream;
}

namespace kernkit::testing {
namespace {

TEST(CudaHandwritten, IsRecorded) {
  simulator::CudaRuntime runtime(std::vector<simulator::CudaDevice>(2));
  cudaSetDevice(1);
  cudaStreamCreate(&host_stream);
  cudaSetDevice(0);
  HostTensor<float> x({5});
  x.dl()->device = {kDLCUDA, 1};
  clamp(x.view("x"));
  const simulator::CudaLaunch launch = runtime.launches().at(0);
  EXPECT_EQ(launch.kernel, "(anonymous namespace)::clamp_kernel<float>");
  EXPECT_EQ(launch.grid.x, 2u);
  EXPECT_EQ(launch.grid.y, 3u);
  EXPECT_EQ(launch.block.x, 64u);
  EXPECT_EQ(launch.shared_memory, 32u);
  EXPECT_EQ(launch.stream, host_stream);
  EXPECT_EQ(launch.device, 1);
  EXPECT_EQ(launch.argument<int>(0), 5);
  EXPECT_EQ(launch.argument<float*>(1), x.begin());
  EXPECT_TRUE(launch.arguments.at(2).empty())
      << "nvcc's code does not contain the size of a structure";
  host_stream = nullptr;
}

TEST(CudaHandwritten, FailedLaunchIsAnError) {
  simulator::CudaRuntime runtime;
  HostTensor<float> x({5});
  x.dl()->device = {kDLCUDA, 0};
  runtime.fail("cudaLaunchKernel", 1, cudaErrorInvalidConfiguration);
  EXPECT_EQ(error_of([&] { clamp(x.view("x")); }),
            "RuntimeError: cudaGetLastError() failed: cudaErrorInvalidConfiguration: invalid "
            "configuration argument");
}

}  // namespace
}  // namespace kernkit::testing
