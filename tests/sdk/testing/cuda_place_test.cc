// SPDX-License-Identifier: Apache-2.0
// A CudaPlace, which the contract's rules use several times.
#include "kernkit/testing/contract/cuda_place.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernkit/owning_tensor.h"

namespace kernels {
__global__ void traps() { __trap(); }
}  // namespace kernels

namespace kernkit::testing::contract {
namespace {

// State left by a kernel, an op or a caller would affect the next call.
TEST(CudaPlace, IsRenewedUnlessStateIsLeft) {
  CudaPlace place;
  EXPECT_TRUE(place.renew());
  EXPECT_TRUE(place.runtime.launches().empty());

  void* memory = nullptr;
  cudaMalloc(&memory, 1);
  EXPECT_FALSE(place.renew());
  cudaFree(memory);
  EXPECT_TRUE(place.renew());

  cudaSetDevice(1);
  EXPECT_FALSE(place.renew());
  cudaSetDevice(0);
  EXPECT_TRUE(place.renew());

  EXPECT_NE(cudaSetDevice(77), cudaSuccess);
  EXPECT_FALSE(place.renew()) << "the error is the next call's";
  (void)cudaGetLastError();
  EXPECT_TRUE(place.renew());

  place.enter();
  { const Tensor x = alloc_tensor({4}, dl_float32, place.device()); }
  place.leave();
  EXPECT_FALSE(place.renew()) << "the pool's memory was written";
}
TEST(CudaPlace, IsNotRenewedAfterAFault) {
  CudaPlace place;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = place.stream();
  cudaLaunchKernelEx(&config, kernels::traps);
  EXPECT_FALSE(place.renew());
}

}  // namespace
}  // namespace kernkit::testing::contract
