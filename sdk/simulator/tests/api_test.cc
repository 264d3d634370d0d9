// SPDX-License-Identifier: Apache-2.0
// kernkit's declarations of the CUDA runtime must agree with NVIDIA's, because code that nvcc
// compiled calls kernkit's functions.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "api_facts.h"

TEST(CudaApi, NumbersAndLayoutsAreNvidias) {
  const CudaApiFacts simulated = facts_of_kernkit();
  const CudaApiFacts nvidia = facts_of_nvidia();
  EXPECT_GT(simulated.size(), 100u);
  for (const auto& [name, value] : simulated) EXPECT_EQ(value, nvidia.at(name)) << name;
}

TEST(CudaApi, NamesAndTextsOfErrorsAreNvidias) {
  void* runtime = dlopen(NVIDIAS_RUNTIME, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(runtime, nullptr) << dlerror();
  using Text = const char* (*)(cudaError_t);
  const auto name = reinterpret_cast<Text>(dlsym(runtime, "cudaGetErrorName"));
  const auto text = reinterpret_cast<Text>(dlsym(runtime, "cudaGetErrorString"));
#define EXPECT_SAME(error, number, message)           \
  EXPECT_STREQ(cudaGetErrorName(error), name(error)); \
  EXPECT_STREQ(cudaGetErrorString(error), text(error));
  KERNKIT_CUDA_ERRORS(EXPECT_SAME)
#undef EXPECT_SAME
}
