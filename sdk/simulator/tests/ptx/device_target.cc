// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "execution_target.h"

namespace kernkit::simulator::execution_target {
namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess ? value : 0;
}

}  // namespace

std::string begin(int needed) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    const cudaError_t problem = error != cudaSuccess ? error : cudaErrorNoDevice;
    (void)cudaGetLastError();
    return std::string("no CUDA device: ") + cudaGetErrorName(problem) + ": " +
           cudaGetErrorString(problem);
  }
  const int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                         attribute(cudaDevAttrComputeCapabilityMinor);
  if (capability == needed || (needed == 90 && capability > needed)) return "";
  return "a device of compute capability " + std::to_string(capability / 10) + "." +
         std::to_string(capability % 10) + ", and these forms need " + std::to_string(needed / 10) +
         ".0";
}

void end() {}

std::string fault() {
  const cudaError_t waited = cudaDeviceSynchronize(), last = cudaGetLastError();
  const cudaError_t error = waited != cudaSuccess ? waited : last;
  return error == cudaSuccess ? "none" : cudaGetErrorName(error);
}

void set_seed(unsigned) {}

bool is_simulator() { return false; }

void encode(const TensorDescription& tensor, unsigned char* map) {
  if (tensor.dimensions == 0) return;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                   &found);
  if (function == nullptr) return;
  cuuint64_t sizes[5], strides[4];
  cuuint32_t box[5], steps[5];
  std::copy(tensor.sizes, tensor.sizes + 5, sizes);
  std::copy(tensor.strides, tensor.strides + 4, strides);
  std::copy(tensor.box, tensor.box + 5, box);
  std::copy(tensor.steps, tensor.steps + 5, steps);
  alignas(64) CUtensorMap encoded;
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &encoded, static_cast<CUtensorMapDataType>(tensor.type),
      static_cast<cuuint32_t>(tensor.dimensions), const_cast<void*>(tensor.address), sizes, strides,
      box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(tensor.swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_NONE, static_cast<CUtensorMapFloatOOBfill>(tensor.fill));
  if (error == CUDA_SUCCESS) std::memcpy(map, &encoded, sizeof(encoded));
}

std::map<std::string, std::string> simd_forms(const std::string&) { return {}; }

}  // namespace kernkit::simulator::execution_target
