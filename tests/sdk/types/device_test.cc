// SPDX-License-Identifier: Apache-2.0
#include "kernkit/types/device.h"

#include <gtest/gtest.h>

#include <climits>
#include <string>

namespace kernkit {
namespace {

std::string name(int type, int id) {
  return device_name({static_cast<DLDeviceType>(type), id}).c_str();
}

TEST(Device, Names) {
  EXPECT_EQ(name(kDLCPU, 0), "cpu");
  EXPECT_EQ(name(kDLCPU, 1), "cpu:1");
  EXPECT_EQ(name(kDLCUDA, 0), "cuda:0");
  EXPECT_EQ(name(kDLCUDA, 15), "cuda:15");
  EXPECT_EQ(name(kDLCUDAHost, 0), "cuda_host:0");
  EXPECT_EQ(name(kDLCUDAManaged, 2), "cuda_managed:2");
  EXPECT_EQ(name(kDLOpenCL, 0), "opencl:0");
  EXPECT_EQ(name(kDLVulkan, 0), "vulkan:0");
  EXPECT_EQ(name(kDLMetal, 0), "metal:0");
  EXPECT_EQ(name(kDLROCM, 0), "rocm:0");
  EXPECT_EQ(name(kDLOneAPI, 0), "oneapi:0");
}

TEST(Device, OddNumbers) {
  EXPECT_EQ(name(99, 0), "device(type=99):0");
  EXPECT_EQ(name(0, 3), "device(type=0):3");
  EXPECT_EQ(name(-1, -1), "device(type=-1):-1");
  EXPECT_EQ(name(kDLCPU, -1), "cpu:-1");
  EXPECT_EQ(name(INT_MIN, INT_MIN), "device(type=-2147483648):-2147483648");
  EXPECT_EQ(name(INT_MAX, INT_MAX), "device(type=2147483647):2147483647");
}

TEST(Device, Equality) {
  constexpr DLDevice kFirst = {kDLCUDA, 0};
  EXPECT_TRUE(kFirst == (DLDevice{kDLCUDA, 0}));
  EXPECT_TRUE(kFirst != (DLDevice{kDLCUDA, 1}));
  EXPECT_TRUE(kFirst != (DLDevice{kDLCPU, 0}));
  EXPECT_FALSE(kFirst == (DLDevice{kDLCUDAManaged, 0}));
}

TEST(Device, Kinds) {
  EXPECT_TRUE(is_cpu({kDLCPU, 3}));
  EXPECT_FALSE(is_cpu({kDLCUDAHost, 0}));
  EXPECT_TRUE(is_cuda({kDLCUDA, 3}));
  EXPECT_FALSE(is_cuda({kDLCUDAManaged, 0}));
  EXPECT_FALSE(is_cuda({kDLROCM, 0}));
}

}  // namespace
}  // namespace kernkit
