// SPDX-License-Identifier: Apache-2.0
// Driver: a test that calls the driver's API on simulated devices.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"

namespace kernkit::simulator {

/// The kernel `scale` computes x[i] *= factor + bias[0] for i < n, in one thread for each i. `bias`
/// is a variable of the module.
inline constexpr const char* kScale = R"(.version 8.7
.target sm_80
.address_size 64
.visible .global .align 4 .b32 bias;
.visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 factor)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [factor];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra $done;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  ld.global.f32 %f3, [bias];
  add.f32 %f1, %f1, %f3;
  mul.f32 %f4, %f2, %f1;
  st.global.f32 [%rd3], %f4;
$done:
  ret;
}
)";

class Driver : public ::testing::Test {
 protected:
  Driver() : runtime_({CudaDevice(), CudaDevice()}) { runtime_.run_kernels(true); }

  /// Initialises the API, and makes the primary context of device 0 current.
  CUcontext start() {
    CUcontext context = nullptr;
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    return context;
  }
  CUmodule load(const char* text) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, text), CUDA_SUCCESS);
    return module;
  }
  CUfunction function(CUmodule module, const char* name) {
    CUfunction handle = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&handle, module, name), CUDA_SUCCESS);
    return handle;
  }
  CUdeviceptr memory(const std::vector<float>& values) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc(&address, values.size() * sizeof(float)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(float)), CUDA_SUCCESS);
    return address;
  }
  std::vector<float> values(CUdeviceptr address, size_t count) {
    std::vector<float> read(count);
    EXPECT_EQ(cuMemcpyDtoH(read.data(), address, count * sizeof(float)), CUDA_SUCCESS);
    return read;
  }
  CudaRuntime& runtime() { return runtime_; }

 private:
  CudaRuntime runtime_;
};

}  // namespace kernkit::simulator
