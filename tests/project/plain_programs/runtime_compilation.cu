// SPDX-License-Identifier: Apache-2.0
// A kernel that NVRTC compiles to machine code of the device's architecture while the program runs.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

#include "expect.h"

namespace {

const char* const kSource =
    "extern \"C\" __global__ void scale(float* x, float factor, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] *= factor;\n"
    "}\n";

// Compiles kSource by NVRTC. Returns the machine code for a real architecture such as "sm_80", or
// an empty vector for a virtual architecture such as "compute_80".
std::vector<char> compile(const std::string& architecture) {
  nvrtcProgram program;
  EXPECT(NVRTC_SUCCESS, nvrtcCreateProgram(&program, kSource, "scale.cu", 0, nullptr, nullptr));
  const std::string option = "--gpu-architecture=" + architecture;
  const char* const options[] = {option.c_str()};
  EXPECT(NVRTC_SUCCESS, nvrtcCompileProgram(program, 1, options));
  size_t size = 0;
  EXPECT(NVRTC_SUCCESS, nvrtcGetCUBINSize(program, &size));
  std::vector<char> code(size);
  if (size != 0) EXPECT(NVRTC_SUCCESS, nvrtcGetCUBIN(program, code.data()));
  EXPECT(NVRTC_SUCCESS, nvrtcDestroyProgram(&program));
  return code;
}

}  // namespace

int main() {
  constexpr int kCount = 1000;
  float* x;
  EXPECT(cudaSuccess, cudaMallocManaged(&x, kCount * sizeof(float)));
  for (int i = 0; i < kCount; ++i) x[i] = static_cast<float>(i);
  EXPECT(0u, compile("compute_80").size());

  cudaDeviceProp device;
  EXPECT(cudaSuccess, cudaGetDeviceProperties(&device, 0));
  const std::vector<char> code =
      compile("sm_" + std::to_string(device.major) + std::to_string(device.minor));
  CUmodule module;
  CUfunction scale;
  EXPECT(CUDA_SUCCESS, cuModuleLoadData(&module, code.data()));
  EXPECT(CUDA_SUCCESS, cuModuleGetFunction(&scale, module, "scale"));
  float factor = 3;
  int count = kCount;
  void* arguments[] = {&x, &factor, &count};
  EXPECT(CUDA_SUCCESS, cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(cudaSuccess, cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) EXPECT(3.0f * static_cast<float>(i), x[i]);
  EXPECT(CUDA_SUCCESS, cuModuleUnload(module));
  std::printf("runtime_compilation: %s\n", passed ? "passed" : "FAILED");
  return passed ? 0 : 1;
}
