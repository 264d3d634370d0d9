// SPDX-License-Identifier: Apache-2.0
// A CudaTarget, which the contract's rules use several times.
#include "kernkit/testing/contract/cuda_target.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernkit/owning_tensor.h"

namespace kernels {
__global__ void traps() { __trap(); }
}  // namespace kernels

namespace kernkit::testing::contract {
namespace {

// renew() returns true only if no state is left that would affect the next call, such as an
// allocation, another current device or a pending error.
TEST(CudaTarget, IsRenewedUnlessStateIsLeft) {
  CudaTarget target;
  EXPECT_TRUE(target.renew());
  EXPECT_TRUE(target.runtime.launches().empty());

  void* memory = nullptr;
  cudaMalloc(&memory, 1);
  EXPECT_FALSE(target.renew());
  cudaFree(memory);
  EXPECT_TRUE(target.renew());

  cudaSetDevice(1);
  EXPECT_FALSE(target.renew());
  cudaSetDevice(0);
  EXPECT_TRUE(target.renew());

  EXPECT_NE(cudaSetDevice(77), cudaSuccess);
  EXPECT_FALSE(target.renew()) << "the next call would get the error";
  (void)cudaGetLastError();
  EXPECT_TRUE(target.renew());

  target.enter();
  { const Tensor x = alloc_tensor({4}, dl_float32, target.device()); }
  target.leave();
  EXPECT_FALSE(target.renew()) << "the pool's memory was written";
}
TEST(CudaTarget, IsNotRenewedAfterAFault) {
  CudaTarget target;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = target.stream();
  cudaLaunchKernelEx(&config, kernels::traps);
  EXPECT_FALSE(target.renew());
}

}  // namespace
}  // namespace kernkit::testing::contract
