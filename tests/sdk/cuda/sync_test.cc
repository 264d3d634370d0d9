// SPDX-License-Identifier: Apache-2.0
// Tests of KERNKIT_SYNC=1 in a separate program, because a process reads the variable once.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "kernkit/cuda/launch.h"
#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace {
cudaStream_t host_stream = nullptr;
const int kSet = setenv("KERNKIT_SYNC", "1", 1);
}  // namespace

extern "C" __attribute__((visibility("default"))) void* TVMFFIEnvGetStream(int32_t, int32_t) {
  return host_stream;
}

namespace kernels {
struct Factors {
  float f[3];
};
__global__ void mixed(const Factors, int8_t, unsigned, double, const void*) {}
}  // namespace kernels

namespace kernkit {
namespace {

using simulator::CudaRuntime;
using testing::error_of;

class CudaSync : public ::testing::Test {
 protected:
  CudaSync() { dl.device = {kDLCUDA, 0}; }
  ~CudaSync() override { host_stream = nullptr; }
  std::string launch() {
    return error_of([&] {
      cuda::Launch(TensorView(&dl, "x"))(kernels::mixed, {2, 32}, kernels::Factors{}, -3, 4u, 0.5,
                                         nullptr);
    });
  }
  CudaRuntime runtime;
  DLTensor dl{};
};

TEST_F(CudaSync, WaitsForEachLaunch) {
  ASSERT_EQ(kSet, 0);
  EXPECT_EQ(launch(), "nothing");
  EXPECT_EQ(launch(), "nothing");
  EXPECT_EQ(runtime.count("cudaStreamSynchronize"), 2u);
}

const char* const kDump =
    "; to find the kernel's line by cuda-gdb, set CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 and "
    "CUDA_COREDUMP_GENERATION_FLAGS=skip_nonrelocated_elf_images,skip_global_memory,"
    "skip_shared_memory,skip_local_memory,skip_constbank_memory";

TEST_F(CudaSync, NamesTheKernelItsArgumentsAndTheNextSetting) {
  runtime.fail("cudaStreamSynchronize", 1, cudaErrorIllegalAddress);
  const std::string text = launch();
  const std::string expected =
      std::string(
          "RuntimeError: KERNKIT_SYNC: kernels::mixed, grid [2, 1, 1], block [32, 1, 1], "
          "arguments ((12 bytes), -3, 4, 0.5, ") +
      (Message().stream() << static_cast<const void*>(nullptr)).c_str() +
      ") failed: cudaErrorIllegalAddress: an illegal memory access was encountered";
  EXPECT_EQ(text, expected + kDump);
  setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
  runtime.fail("cudaStreamSynchronize", 1, cudaErrorIllegalAddress);
  EXPECT_EQ(launch(), expected);
  unsetenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
}

TEST_F(CudaSync, NeverWhileCapturing) {
  ASSERT_EQ(cudaStreamCreate(&host_stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(host_stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch(), "nothing");
  EXPECT_EQ(runtime.count("cudaStreamSynchronize"), 0u);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(host_stream, &graph), cudaSuccess);
}

}  // namespace
}  // namespace kernkit
