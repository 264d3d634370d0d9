// SPDX-License-Identifier: Apache-2.0
// kernkit's own declarations of the CUDA runtime against NVIDIA's: what nvcc compiled calls what
// kernkit compiled.
#include <gtest/gtest.h>

#include "cuda_api_facts.h"

TEST(CudaApi, NumbersAndLayoutsAreNvidias) {
  const CudaApiFacts ours = facts_of_kernkit();
  const CudaApiFacts theirs = facts_of_nvidia();
  EXPECT_GT(ours.size(), 100u);
  for (const auto& [name, value] : ours) EXPECT_EQ(value, theirs.at(name)) << name;
}
