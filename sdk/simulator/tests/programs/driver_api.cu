// SPDX-License-Identifier: Apache-2.0
// A program that calls the driver's API and the runtime's: a module of PTX text, kernels and
// streams of one API in calls of the other, and functions that the runtime finds in the driver.
#include <cuda.h>

#include "expect.h"

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }

constexpr const char* kDouble = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  shl.b32 %r3, %r2, 1;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

void check(CUresult result) {
  const char* name = "";
  if (result == CUDA_SUCCESS) return;
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "CUDA: %s\n", name);
  std::exit(1);
}

int main() {
  CUdeviceptr address = 0;
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&address, 16));
  check(cuInit(0));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 16));
  int* x = nullptr;
  check(cudaMalloc(&x, 4 * sizeof(int)));  // makes the primary context current
  CUcontext current = nullptr, primary = nullptr;
  check(cuCtxGetCurrent(&current));
  check(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(true, primary == current);

  CUmodule module = nullptr;
  CUfunction twice = nullptr, of_runtime = nullptr;
  cudaStream_t stream = nullptr;
  check(cuModuleLoadData(&module, kDouble));
  check(cuModuleGetFunction(&twice, module, "twice"));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  address = reinterpret_cast<CUdeviceptr>(x);
  check(cuMemsetD32Async(address, 5, 4, stream));
  void* arguments[] = {&address};
  check(cuLaunchKernel(twice, 1, 1, 1, 4, 1, 1, 0, stream, arguments, nullptr));
  add<<<1, 4, 0, stream>>>(x, 3);
  check(cudaGetLastError());
  check(cudaGetFuncBySymbol(&of_runtime, reinterpret_cast<const void*>(add)));
  int value = 100;
  void* of_add[] = {&x, &value};
  check(cuLaunchKernel(of_runtime, 1, 1, 1, 2, 1, 1, 0, stream, of_add, nullptr));
  check(cuStreamSynchronize(stream));
  int read[4] = {};
  check(cudaMemcpy(read, x, sizeof(read), cudaMemcpyDeviceToHost));
  EXPECT(113, read[0]);
  EXPECT(113, read[1]);
  EXPECT(13, read[2]);
  EXPECT(13, read[3]);

  void* entry_point = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  check(cudaGetDriverEntryPointByVersion("cuMemFree", &entry_point, 12000, cudaEnableDefault,
                                         &status));
  EXPECT(cudaDriverEntryPointSuccess, status);
  check(reinterpret_cast<CUresult (*)(CUdeviceptr)>(entry_point)(address));
  EXPECT(cudaErrorInvalidValue, cudaFree(x));
  EXPECT(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  EXPECT(cudaSuccess, cudaGetLastError());
  check(
      cudaGetDriverEntryPointByVersion("cuNone", &entry_point, 12000, cudaEnableDefault, &status));
  EXPECT(cudaDriverEntryPointSymbolNotFound, status);
  size_t offset = 0, size = 0;
  check(cudaFuncGetParamInfo(reinterpret_cast<const void*>(add), 1, &offset, &size));
  EXPECT(size_t{8}, offset);
  EXPECT(size_t{4}, size);
  check(cuModuleUnload(module));
  check(cudaStreamDestroy(stream));
  return verdict("driver_api", passed);
}
